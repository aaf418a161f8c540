import { once } from "node:events";
import { createServer } from "node:net";
import { listen } from "../listen.ts";

export async function standInDoor(host: string) {
  const texts: string[] = [];
  const server = createServer((socket) => {
    const index = texts.push("") - 1;
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (texts[index] = `${texts[index] ?? ""}${chunk}`));
    socket.on("error", () => undefined);
  });
  const port = await listen(server, 0, "0.0.0.0");
  const quiet = `a.on("error",()=>b.destroy());b.on("error",()=>a.destroy())`;
  const pipe = `const b=require("net").connect(${port},"${host}");${quiet};a.pipe(b).pipe(a)`;
  const relay = `require("net").createServer((a)=>{${pipe}}).listen(${port})`;
  return {
    address: `${host}:${port}`,
    /** All that came so far, a connection after the other. */
    heard: (): string => texts.join(""),
    /** `al _door-relay` in one line of a program that every image with Node has. */
    relayCommand: ["node", "-e", relay],
    close: async () => {
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

/** In place of the scheduler's door: notes what comes by each connection. */
export type StandInDoor = Awaited<ReturnType<typeof standInDoor>>;
