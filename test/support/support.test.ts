import { expect, inject, it } from "vitest";
it("shared", () => { console.log(inject("zookeeper")); });
import { startZooKeeper } from "./zookeeper-server.js";
it("s", async () => { const t = performance.now(); await using s = await startZooKeeper(); console.log("start", performance.now()-t);
 console.log(await s.mode()); s.pause(); await expect(s.mode()).rejects.toThrow(/2 s/); s.resume(); await s.stop(); const u = performance.now(); await s.start(); console.log("restart", performance.now()-u); console.log((await s.mntr())["zk_version"], s.log.length); });
