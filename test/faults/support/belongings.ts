/** What is to be disposed of together, all at once. (Node 20 has no AsyncDisposableStack.) */
export class Belongings {
  readonly #all: AsyncDisposable[] = [];

  use<T extends AsyncDisposable>(one: T): T {
    this.#all.push(one);
    return one;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = this.#all.splice(0);
    const results = await Promise.allSettled(all.map((one) => one[Symbol.asyncDispose]()));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
}
