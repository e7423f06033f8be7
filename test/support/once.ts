const SLOT = Symbol.for("tenure.tests");
const slots = globalThis as unknown as { [SLOT]?: Map<string, unknown> };

/** What `make` gave the first time in this process. (vitest loads the modules of a set-up anew for each of its projects.) */
export function once<T>(name: string, make: () => T): T {
  slots[SLOT] ??= new Map();
  if (!slots[SLOT].has(name)) slots[SLOT].set(name, make());
  return slots[SLOT].get(name) as T;
}
