import { connect } from "node:net";

/** Sends one of ZooKeeper's four-letter words and resolves to the answer; rejects after 2 s. */
export function fourLetter(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.setTimeout(2_000, () => socket.destroy(new Error(`no answer to ${command} on port ${port} within 2 s`)));
    socket.on("connect", () => socket.write(command));
    socket.on("data", (chunk) => (answer += chunk));
    socket.on("end", () => {
      socket.destroy();
      resolve(answer);
    });
    socket.on("error", reject);
  });
}
