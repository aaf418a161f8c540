import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Ticket } from "../../../../src/foundation/contracts/remote-run.ts";
import { runIsOver } from "../../../../src/runtime/cluster/remote-process.ts";
import { doorSide, expectRun } from "../door/support.ts";
import type { DoorSide, TicketHolder } from "../door/support.ts";
import { resource } from "../../run-api/support.ts";
import { eventually, shell, startRemoteRun } from "./start-remote-run.ts";

let side: DoorSide;
beforeEach(async () => {
  side = await doorSide();
});
afterEach(() => side.remove());

function ticketOf({ name, ticket }: TicketHolder): Ticket {
  return { door: `127.0.0.1:${side.now.port}`, certificate: side.certificate, name, ticket };
}

/** The runner knows the run no more once its end came. */
function endWithTheEnd(): void {
  const { remote } = side.now;
  const { onLines } = remote;
  remote.onLines = async () => {
    const last = remote.received.at(-1);
    if (last !== undefined && "end" in last) throw runIsOver();
    return onLines();
  };
}

const linesOf = () =>
  side.now.remote.received.map((line) => ("line" in line ? `${line.seq} ${line.line}` : "end"));

it("a remote run claims at the real door, and its requests come by its own socket", async () => {
  endWithTheEnd();
  const run = await expectRun(side, "dev-1");
  const program = `
    let text = "";
    process.stdin.on("data", (chunk) => {
      text += chunk;
      if (!text.endsWith("\\n")) return;
      const { socket, token } = JSON.parse(text).channel;
      const headers = {
        authorization: "Bearer " + token,
        "content-type": "application/json",
        "idempotency-key": "7d444840-9dc0-41d1-b245-5ffdce74fad2",
      };
      const options = { socketPath: socket, path: "/run/unlock", method: "POST", headers };
      require("node:http").request(options, (answer) => {
        console.log(answer.statusCode);
        answer.pipe(process.stdout).on("unpipe", () => process.exit());
      }).end(${JSON.stringify(JSON.stringify({ resource }))});
    });`;
  using started = startRemoteRun(ticketOf(run), [process.execPath, "--eval", program], {
    AL_NODE: "node-7",
  });
  expect(await started.ended, started.err()).toBe(0);
  expect(side.now.remote.claims).toMatchObject([{ instanceId: "dev-1", node: "node-7" }]);
  expect(linesOf()).toEqual(["1 200", '2 {"ok":true}', "end"]);
});

it("a second process with the same ticket exits, and the first one lives on under the next scheduler", async () => {
  const run = await expectRun(side, "dev-1");
  const status = `echo '{"type":"status","text":"working"}'`;
  const script = `echo one; ${status}; echo two; while [ ! -e go-on ]; do sleep 0.1; done; echo three`;
  using first = startRemoteRun(ticketOf(run), shell(script));
  await eventually(() => expect(linesOf()).toHaveLength(3));
  using second = startRemoteRun(ticketOf(run), shell("echo twice"));
  expect(await second.ended).toBe(0);
  await side.restart(["dev-1"]);
  side.serve();
  endWithTheEnd();
  // Without a line to send, too.
  await eventually(() => expect(linesOf()).toEqual(['2 {"type":"status","text":"working"}']));
  writeFileSync(join(first.socketDir, "go-on"), "");
  expect(await first.ended, first.err()).toBe(0);
  expect(linesOf()).toEqual(['2 {"type":"status","text":"working"}', "4 three", "end"]);
});
