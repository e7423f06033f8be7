import { describe, expect, it } from "vitest";
import { Codec, withoutChroot } from "../../adapters/zookeeper/client/zookeeper-client-codec.js";
import { FrameReader, FrameWriter } from "../../adapters/zookeeper/client/zookeeper-client-records.js";
import { PendingWatch } from "../../adapters/zookeeper/client/zookeeper-client-watches.js";

// The package's own codec: the same bytes are expected of ours.
// biome-ignore lint/suspicious/noExplicitAny: it has no types.
const jute: any = (await import("node-zookeeper-client/lib/jute/index.js")).default;

const ACL = [
  { permissions: "cdrw", scheme: "digest", id: "ana:w7Xz=" },
  { permissions: "r", scheme: "world", id: "anyone" },
];
const juteAcl = [new jute.data.ACL(15, new jute.data.Id("digest", "ana:w7Xz=")), new jute.data.ACL(1, new jute.data.Id("world", "anyone"))];
const text = (value: string) => Buffer.from(value);

function ofPackage(type: number, payload: { setChrootPath(path: string): void } | null, chroot: string): Buffer {
  if (chroot !== "") payload?.setChrootPath(chroot);
  return new jute.Request(new jute.protocol.RequestHeader(0, type), payload).toBuffer();
}

describe.each(["", "/app"])("requests below the chroot '%s'", (chroot) => {
  const codec = new Codec(chroot, ACL);
  const { protocol, OP_CODES } = jute;
  const long = "long/".repeat(100);
  const paths = ["/", "/a", "/ü/日本/🦉", `/${long}end`];

  it.each(paths)("are the bytes that the package would send, for %s", (path) => {
    const data = text(`data of ${path}`);
    const expected = (type: number, record: string, ...fields: unknown[]) => ofPackage(type, new protocol[record](...fields), chroot);
    expect(codec.create(path, data, "ephemeral-sequential").frame).toEqual(expected(1, "CreateRequest", path, data, juteAcl, 3));
    expect(codec.delete(path, 7).frame).toEqual(expected(2, "DeleteRequest", path, 7));
    expect(codec.exists(path).frame).toEqual(expected(3, "ExistsRequest", path, false));
    expect(codec.getData(path).frame).toEqual(expected(4, "GetDataRequest", path, false));
    expect(codec.setData(path, data, -1).frame).toEqual(expected(5, "SetDataRequest", path, data, -1));
    expect(codec.sync(path).frame).toEqual(expected(9, "GetACLRequest", path));
    expect(codec.getChildren(path).frame).toEqual(expected(12, "GetChildren2Request", path, false));
    expect(codec.watch("data", path, new PendingWatch()).frame).toEqual(expected(4, "GetDataRequest", path, true));
  });

  it("so are transactions", () => {
    const path = "/日本";
    const data = text("x".repeat(300));
    const frame = codec.multi([
      { op: "check", path, version: 3 },
      { op: "create", path, data, mode: "persistent" },
      { op: "setData", path, data, version: 0 },
      { op: "delete", path, version: -1 },
    ]).frame;
    const operations = [
      { type: OP_CODES.CHECK, path, version: 3 },
      { type: OP_CODES.CREATE, path, data, acls: juteAcl.map((acl) => ({ toRecord: () => acl })), mode: 0 },
      { type: OP_CODES.SET_DATA, path, data, version: 0 },
      { type: OP_CODES.DELETE, path, version: -1 },
    ];
    expect(frame).toEqual(ofPackage(OP_CODES.MULTI, new jute.TransactionRequest(operations), chroot));
  });

  it("so is the end of the session", () => {
    expect(codec.closeSession().frame).toEqual(ofPackage(OP_CODES.CLOSE_SESSION, null, chroot));
  });
});

describe("a frame that is read", () => {
  const connection = null as never;

  it("gives back what was written", () => {
    const frame = new FrameWriter().int(-5).bool(true).string("ü").buffer(text("data")).int(-1).int(2).string("a").string("b").frame();
    const reader = new FrameReader(frame, 4);
    expect([reader.int(), reader.bool(), reader.string(), reader.buffer(), reader.buffer(), reader.strings()]).toEqual([
      -5,
      true,
      "ü",
      text("data"),
      text(""),
      ["a", "b"],
    ]);
  });

  it("is refused when it ends too early, and read as if empty when there is no list", () => {
    for (const frame of [new FrameWriter().int(9).frame(), new FrameWriter().int(5).int(0).frame()]) {
      expect(() => new FrameReader(frame, 4).string()).toThrow(RangeError);
    }
    expect(new FrameReader(new FrameWriter().int(-1).frame(), 4).strings()).toEqual([]);
  });

  it("names paths without the chroot", () => {
    const codec = new Codec("/app", ACL);
    const reply = new FrameReader(new FrameWriter().string("/app/a-1").frame(), 4);
    expect(codec.create("/a-", text(""), "ephemeral-sequential").read(0, reply, connection)).toBe("/a-1");
    expect([withoutChroot("/app", "/app"), withoutChroot("/apple", "/app"), withoutChroot("/b", "")]).toEqual(["/", "/apple", "/b"]);
  });
});
