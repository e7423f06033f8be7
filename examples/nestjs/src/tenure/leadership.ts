import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  ServiceUnavailableException,
} from "@nestjs/common";
import { Elector, type ElectorOptions, LostError, type Term } from "tenure";

export const ELECTOR_OPTIONS = Symbol("ELECTOR_OPTIONS");

/** Stands for as long as the application runs, and hands the seat over when it shuts down. */
@Injectable()
export class Leadership implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly elector: Elector;
  readonly #logger = new Logger("Leadership");

  constructor(@Inject(ELECTOR_OPTIONS) options: ElectorOptions) {
    this.elector = new Elector(options);
    const { id } = this.elector;
    this.elector.on("standby", () => this.#logger.log(`${id}: standby`));
    this.elector.on("elected", (term) => this.#logger.log(`${id}: leading, fence ${term.token}`));
    this.elector.on("lost", ({ reason }) => this.#logger.log(`${id}: lost: ${reason}`));
    this.elector.on("warning", (error) => this.#logger.warn(`${id}: ${error.message}`));
    this.elector.on("stopped", ({ error }) => {
      // By itself it stops for what no further try would cure only, such as wrong credentials.
      if (error) this.#logger.error(`${id}: ${error.message}`);
    });
  }

  onApplicationBootstrap(): void {
    this.elector.start();
  }

  /** Nest calls it when no more requests are served, and waits: the work of the term ends, then the next in line has the seat. */
  async onApplicationShutdown(): Promise<void> {
    await this.elector.stop();
  }

  /**
   * Runs `work` while this process leads, and keeps the seat until it has settled. Otherwise a ServiceUnavailableException: 503 where it
   * comes out of a controller. Hand the fence of the term (`term.token`) to whatever the work writes to.
   */
  async run<T>(work: (term: Term, signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const { term } = this.elector;
    if (term === null || term.draining.aborted) throw new ServiceUnavailableException(`${this.elector.id} does not lead`);
    try {
      return await term.guard((signal) => work(term, signal));
    } catch (error) {
      if (!(error instanceof LostError)) throw error;
      throw new ServiceUnavailableException(`${error.message}: what was written may have taken effect`, { cause: error });
    }
  }
}
