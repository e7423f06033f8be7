import { createServer } from "node:http";
import { Elector, observe } from "tenure";
import { zookeeper } from "tenure/zookeeper";
import { Ledger } from "./ledger.js";
import { service } from "./service.js";

const port = Number(process.env.PORT ?? 8080);
// How the other processes, and clients that are sent on, reach this one.
const url = process.env.URL ?? `http://127.0.0.1:${port}`;

// Elector and observer share the store value, and with it one session.
const store = zookeeper(process.env.ZOOKEEPER ?? "127.0.0.1:2181");
const elector = new Elector({ store, election: "ledger", id: process.env.ID ?? url, metadata: { url } });
const observer = observe(store, "ledger");
const server = createServer(service({ elector, observer, ledger: new Ledger(process.env.LEDGER ?? "ledger.json") }));

elector.on("standby", () => console.log(`${elector.id}: standby`));
elector.on("elected", (term) => console.log(`${elector.id}: leading, fence ${term.token}`));
elector.on("lost", ({ reason }) => console.log(`${elector.id}: lost: ${reason}`));
elector.on("warning", (error) => console.error(`${elector.id}: ${error.message}`));
elector.on("stopped", ({ error }) => {
  // By itself it stops for what no further try would cure only, such as wrong credentials.
  if (error) console.error(`${elector.id}: ${error.message}`);
});

server.listen(port, () => {
  console.log(`${elector.id}: serving ${url}/ledger`);
  elector.start();
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, async () => {
    // Requests that are being answered hold the seat, by their guard; the next leader has it when they are done.
    await elector.stop();
    await observer.close();
    server.close();
    server.closeIdleConnections();
  });
}
