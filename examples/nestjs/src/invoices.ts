import { setTimeout as sleep } from "node:timers/promises";
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from "@nestjs/common";
import { LeaderOnly } from "./tenure/leader-only.decorator.js";
import { Leadership } from "./tenure/leadership.js";

/** Posts invoices twice a second, on the leader only. */
@Injectable()
export class Invoices implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #leadership: Leadership;
  #timer: NodeJS.Timeout | undefined;

  constructor(@Inject(Leadership) leadership: Leadership) {
    this.#leadership = leadership;
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => {
      this.post().catch((error: Error) => this.#log(`not posted: ${error.message}`));
    }, 500);
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  @LeaderOnly()
  async post(): Promise<void> {
    const { term } = this.#leadership.elector;
    this.#log(`posting, fence ${term?.token}`);
    // In earnest: UPDATE … WHERE fence <= $fence, or the fence in a header.
    await sleep(300);
    this.#log(`posted, fence ${term?.token}`);
  }

  #log(text: string): void {
    console.log(`${new Date().toISOString()} ${this.#leadership.elector.id}: ${text}`);
  }
}
