import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claimAnswerSchema } from "../../../../src/runtime/cluster/remote-run/protocol.ts";
import { post } from "../../run-api/support.ts";
import {
  ask,
  channelOf,
  claim,
  claimA,
  claimB,
  doorSide,
  expectRun,
  tokenOf,
  unlock,
} from "./support.ts";
import { perTest } from "../../../helpers/per-test.ts";

const side = perTest(doorSide, (side) => side.remove());
const run = perTest(() => expectRun(side(), "dev-1"));
const statusOf = async (id = claimA) => (await claim(side(), run(), id)).status;

describe("a claim", () => {
  test("is answered with the job and a token, which is valid for all else", async () => {
    const { status, body } = await claim(side(), run());
    expect(status).toBe(200);
    const { job, leaseSeconds } = claimAnswerSchema.parse(body);
    expect(job).toMatchObject({ instanceId: "dev-1", channel: { socket: "/run/al/channel.sock" } });
    expect(leaseSeconds).toBe(90);
    const token = job.channel?.token ?? "";
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(side().now.remote.claims).toEqual([{ instanceId: "dev-1", claim: claimA, node: "n1" }]);
    expect(await unlock(side(), run().name, token)).toBe(200);
    expect(await unlock(side(), run().name, run().ticket)).toBe(401);
  });

  test("is accepted for one of many concurrent claimers, which keeps its token", async () => {
    const ids = Array.from({ length: 8 }, (_, n) => `${n}${claimA.slice(1)}`);
    const answers = await Promise.all(ids.map((id) => claim(side(), run(), id)));
    const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(winner?.status).toBe(200);
    for (const other of others) {
      expect(other).toMatchObject({ status: 409, body: { error: "claimed" } });
    }
    expect(side().now.remote.claims).toHaveLength(1);
    const { job } = claimAnswerSchema.parse(winner?.body);
    expect(await unlock(side(), run().name, job.channel?.token ?? "")).toBe(200);
  });

  test("whose answer was lost is answered again, with another token", async () => {
    const lost = await tokenOf(side(), run());
    const token = await tokenOf(side(), run());
    expect(token).not.toBe(lost);
    expect(await unlock(side(), run().name, lost)).toBe(401);
    expect(await unlock(side(), run().name, token)).toBe(200);
  });

  test("with a forged ticket, another run's, or none is rejected", async () => {
    const other = await expectRun(side(), "dev-2");
    for (const ticket of ["A".repeat(43), other.ticket, ""]) {
      const refused = await claim(side(), { ...run(), ticket });
      expect(refused).toMatchObject({ status: 401, body: { error: "unauthorized" } });
    }
    expect(side().now.remote.claims).toEqual([]);
    expect(await statusOf()).toBe(200);
  });

  test("that is malformed has no effect", async () => {
    const asked = { name: run().name, token: run().ticket, body: { claim: "1", node: "n" } };
    expect(await ask(side(), "/remote/claim", asked)).toMatchObject({ status: 400 });
    expect(await statusOf()).toBe(200);
  });

  test("that the scheduler can't answer yet succeeds when repeated", async () => {
    const { remote } = side().now;
    const make = remote.claim.bind(remote);
    remote.claim = () => Promise.reject(new Error("the credential is on fire"));
    const refused = await claim(side(), run());
    expect(refused).toMatchObject({ status: 503, body: { error: "unavailable" } });
    expect(JSON.stringify(refused)).not.toContain("fire");
    expect(side().problems).toEqual(["dev-1: the credential is on fire"]);
    remote.claim = make;
    expect([await statusOf(), await statusOf(claimB)]).toEqual([200, 409]);
  });
});

describe("after a restart of the scheduler", () => {
  test("a run's token still works, and no other process can claim the run", async () => {
    const token = await tokenOf(side(), run());
    const restored = await side().restart(["dev-1"]);
    expect([...restored.keys()]).toEqual(["dev-1"]);
    expect(await unlock(side(), run().name, token)).toBe(503);
    side().serve();
    expect(await unlock(side(), run().name, token)).toBe(200);
    expect(await statusOf(claimB)).toBe(409);
    expect(await unlock(side(), run().name, await tokenOf(side(), run()))).toBe(200);
  });

  test("an unclaimed ticket is still valid", async () => {
    run();
    await side().restart(["dev-1"]);
    side().serve();
    expect(await statusOf()).toBe(200);
  });

  test("a run that is no longer expected learns that it has ended", async () => {
    const token = await tokenOf(side(), run());
    await side().restart([]);
    side().serve();
    expect([await unlock(side(), run().name, token), await statusOf()]).toEqual([401, 401]);
    await expect.poll(() => side().store.remoteRuns.all()).toEqual([]);
  });
});

describe("a run's ticket and token", () => {
  test("are removed from texts while the run lives, and stored only as hashes", async () => {
    const secrets = [run().ticket, await tokenOf(side(), run())];
    const { redact } = side().now.redactor;
    const shown = () => secrets.map((secret) => redact(`x ${secret} y`));
    expect(shown()).toEqual(secrets.map(() => "x [redacted] y"));
    const dir = join(side().dir, ".al");
    const files = readdirSync(dir).filter((file) => file.includes("state.db"));
    const bytes = files.map((file) => readFileSync(join(dir, file)).toString("latin1")).join("");
    expect(secrets.filter((secret) => bytes.includes(secret))).toEqual([]);
    run().runSocket[Symbol.dispose]();
    expect(shown()).toEqual(secrets.map((secret) => `x ${secret} y`));
    expect(side().problems).toEqual([]);
  });

  test("are invalid once the run has ended, on old connections and on new ones", async () => {
    const token = await tokenOf(side(), run());
    using channel = await channelOf(side(), run().name);
    const through = { socket: channel.path, token };
    expect((await post(through, "unlock")).status).toBe(200);
    run().runSocket[Symbol.dispose]();
    expect((await post(through, "unlock")).status).toBe(401);
    expect([await unlock(side(), run().name, token), await statusOf()]).toEqual([401, 401]);
    await expect.poll(() => side().store.remoteRuns.all()).toEqual([]);
  });
});
