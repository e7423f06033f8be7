import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { startConsul } from "./consul-server.js";
import { findConsul } from "./install-consul.js";

describe("finding a Consul", () => {
  it("refuses a CONSUL_BIN that is none", async () => {
    await expect(findConsul({ ...process.env, CONSUL_BIN: "/bin/true" })).rejects.toThrow(/CONSUL_BIN is \/bin\/true, but/);
  });

  it("names what to install when there is none and nothing to build it with", async () => {
    await expect(findConsul({ XDG_CACHE_HOME: tmpdir(), PATH: "" })).rejects.toThrow(
      /built with the Go toolchain, .* install Go .* Or install a Consul .* CONSUL_BIN/,
    );
  });
});

describe("a Consul server", () => {
  it("keeps ports and data over a restart", async () => {
    await using server = await startConsul();
    expect(await server.ask("PUT", "/v1/kv/kept", { body: "yes" })).toBe(true);
    await server.restart("SIGKILL");
    expect((await server.call("GET", "/v1/kv/kept?raw")).text).toBe("yes");
  });
});
