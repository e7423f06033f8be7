export type { MemoryClient } from "./memory-client.js";
export type { MemoryCall } from "./memory-faults.js";
export type { MemorySnapshot } from "./memory-server.js";
export { type MemoryOptions, MemoryStore, memory } from "./memory-store.js";
