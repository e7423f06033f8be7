import { afterEach, describe, expect, it, vi } from "vitest";

afterEach(() => {
  vi.doUnmock("node-zookeeper-client/lib/jute/index.js");
  vi.resetModules();
});

describe("node-zookeeper-client", () => {
  it("is asked for by name when it is not there", async () => {
    vi.doMock("node-zookeeper-client/lib/jute/index.js", () => {
      throw new Error("Cannot find package");
    });
    const { loadNodeZooKeeperClient } = await import("../../adapters/zookeeper/client/zookeeper-client-package.js");
    const error = await loadNodeZooKeeperClient().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "unsupported", transient: false });
    expect(String(error)).toContain("install version 1.1.3");
  });

  it("has what we use of it", async () => {
    const { loadNodeZooKeeperClient } = await import("../../adapters/zookeeper/client/zookeeper-client-package.js");
    const { ConnectionManager, jute } = await loadNodeZooKeeperClient();
    for (const method of ["addAuthInfo", "queue", "onSocketConnected", "onSocketData", "onSocketDrain"]) {
      expect(ConnectionManager.prototype).toHaveProperty(method);
    }
    expect(jute.OP_CODES).toHaveProperty("PING", 11);
    expect(jute.XID_PING).toBe(-2);
  });
});
