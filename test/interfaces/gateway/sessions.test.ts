import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSessions } from "../../../src/interfaces/gateway/sessions.ts";
import { pause } from "../../helpers/pause.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const hour = 3_600_000;

function open(home = tempDir(), checkEveryMs = 10, madeSince = 0) {
  const clock = { now: 1_000_000 };
  const problems: string[] = [];
  const sessions = openSessions({
    home,
    checkEveryMs,
    madeSince,
    now: () => clock.now,
    onProblem: (problem) => problems.push(problem),
  });
  const ended: string[] = [];
  sessions.ended$.subscribe((id) => ended.push(id));
  onTestFinished(() => sessions.close());
  return { home, clock, sessions, ended, problems };
}

test("only a session's token opens it", () => {
  const { sessions } = open();
  const token = sessions.create();
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  const id = sessions.touch(token);
  expect(id).toMatch(/^[0-9a-f]{64}$/);
  expect(sessions.touch(id ?? "")).toBeNull();
  expect(sessions.touch("")).toBeNull();
});

test("the session file is private and never holds a token", () => {
  const { home, sessions } = open();
  const token = sessions.create();
  for (const name of ["sessions.db", "sessions.db-wal"]) {
    expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(home, name)).includes(token)).toBe(false);
  }
});

test("a session ends after 7 days however much it is used", () => {
  const { clock, sessions } = open();
  const token = sessions.create();
  for (let hours = 0; hours < 166; hours += 10) {
    expect(sessions.touch(token)).not.toBeNull();
    clock.now += 10 * hour;
  }
  expect(sessions.touch(token)).toBeNull();
});

test("use of a session is written at most once a minute", () => {
  const { home, clock, sessions } = open();
  const token = sessions.create();
  const db = new DatabaseSync(join(home, "sessions.db"));
  onTestFinished(() => db.close());
  const seenAt = () => db.prepare("SELECT seen_at FROM sessions").get()?.seen_at;
  clock.now += 59_000;
  sessions.touch(token);
  expect(seenAt()).toBe(1_000_000);
  clock.now += 1_000;
  sessions.touch(token);
  expect(seenAt()).toBe(1_060_000);
});

test("the end of a session is emitted: by logout, by ending all, and by age", async () => {
  const { clock, sessions, ended } = open();
  const ids = [1, 2, 3].map(() => sessions.touch(sessions.create()) ?? "");
  const [first, ...others] = ids;
  sessions.end(first ?? "");
  expect(ended).toEqual([first]);
  sessions.endAll();
  expect(ended.slice(1).sort()).toEqual(others.sort());
  const old = sessions.touch(sessions.create());
  clock.now += 12 * hour;
  await expect.poll(() => ended.at(-1)).toBe(old);
  expect(ended).toHaveLength(4);
});

test("schedulers of one user share sessions, and each emits the end of those that it used", async () => {
  const one = open();
  const other = open(one.home);
  const token = one.sessions.create();
  const id = other.sessions.touch(token) ?? "";
  one.sessions.end(id);
  expect(other.sessions.touch(token)).toBeNull();
  await expect.poll(() => other.ended).toEqual([id]);
  await pause(30, "the end must not be emitted twice");
  expect(one.ended).toEqual([id]);
});

test("a session survives a restart and stays valid when its use can't be written", () => {
  const first = open();
  const token = first.sessions.create();
  first.sessions.close();
  const { home, clock, sessions, problems } = open(first.home, 60_000);
  const other = new DatabaseSync(join(home, "sessions.db"));
  onTestFinished(() => other.close());
  other.exec("CREATE TRIGGER broken BEFORE UPDATE ON sessions BEGIN SELECT RAISE(FAIL, 'no'); END");
  clock.now += 2 * 60_000;
  expect(sessions.touch(token)).not.toBeNull();
  expect(problems).toEqual(["sessions.db: no"]);
});

test("an opened session store ends sessions made before a given time", () => {
  const { home, clock, sessions } = open();
  const before = sessions.create();
  clock.now += 10;
  const after = sessions.create();
  const reopened = open(home, 10, clock.now);
  expect(reopened.sessions.touch(before)).toBeNull();
  expect(reopened.sessions.touch(after)).not.toBeNull();
});

test("while another process locks the store, sessions stay valid and writes are rejected", async () => {
  const { home, clock, sessions, problems } = open();
  const token = sessions.create();
  const other = new DatabaseSync(join(home, "sessions.db"));
  onTestFinished(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  clock.now += 60_000;
  for (let request = 0; request < 100; request++) expect(sessions.touch(token)).not.toBeNull();
  const refused = expect.objectContaining({ code: "store_unavailable" }) as Error;
  expect(() => sessions.create()).toThrow(refused);
  expect(() => sessions.end("any")).toThrow(refused);
  await expect.poll(() => problems.length).toBeGreaterThan(1);
  other.exec("ROLLBACK");
  expect(sessions.touch(sessions.create())).not.toBeNull();
});

test("a session ends after 12 hours without use; looking it up is not a use", () => {
  const { clock, sessions } = open();
  const token = sessions.create();
  clock.now += 11.9 * hour;
  const id = sessions.touch(token);
  clock.now += 11.9 * hour;
  expect(sessions.find(token)).toBe(id);
  clock.now += 0.1 * hour;
  expect([sessions.find(token), sessions.touch(token)]).toEqual([null, null]);
});
