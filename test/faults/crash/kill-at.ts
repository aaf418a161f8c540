/**
 * Preloaded into the program (`node --import`): ends its process with SIGKILL at the nth time that it comes to a point
 * of `kill-points.ts`. It wraps built-ins of Node only, so that the program needs no hooks for it.
 */
import childProcess from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import fsPromises from "node:fs/promises";
import http from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { killPoints, writes } from "./kill-points.ts";
import type { Call, KillPoint, Strike, Written } from "./kill-points.ts";

/** What the program is told in `AL_KILL_AT`, as JSON. */
export interface KillOrder {
  readonly point: KillPoint;
  readonly nth: number;
  /** Where runs leave files that say how far they are. */
  readonly marks: string;
}

let left = 1;

/** One more time that the point was reached. */
function strike(): void {
  if (--left === 0) process.kill(process.pid, "SIGKILL");
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Replaces a method by one that is handed the old one. */
function wrap(target: object, name: string, around: (old: Method) => Method): void {
  const methods = target as Record<string, Method>;
  const old = methods[name];
  if (old === undefined) throw new Error(`there is no ${name} to wrap`);
  methods[name] = around(old);
}

function atCommits(of: Written, when: "before" | "after"): void {
  let isMeant = false;
  for (const method of ["run", "get", "all"] as const) {
    wrap(
      StatementSync.prototype,
      method,
      (old) =>
        function (this: unknown, ...args) {
          const sql = (this as StatementSync).sourceSQL;
          if (sql.startsWith("BEGIN")) isMeant = false;
          if (sql.includes(writes[of])) isMeant = true;
          const strikes = isMeant && sql === "COMMIT";
          if (strikes && when === "before") strike();
          const result = old.apply(this, args);
          if (strikes && when === "after") strike();
          return result;
        },
    );
  }
}

/** In the middle of a transaction that makes the tables. */
function atMigration(): void {
  wrap(
    DatabaseSync.prototype,
    "exec",
    (old) =>
      function (this: unknown, ...args) {
        old.apply(this, args);
        if (String(args[0]).includes("CREATE TABLE")) strike();
      },
  );
}

const atCalls: Readonly<Record<Call, () => void>> = {
  answer: () =>
    wrap(
      http.ServerResponse.prototype,
      "end",
      (old) =>
        function (this: unknown, ...args) {
          const response = this as http.ServerResponse;
          if (response.req.url?.startsWith("/webhooks/")) response.once("finish", strike);
          return old.apply(this, args);
        },
    ),
  spawn: () => atSupervisors(() => strike()),
  order: () => atSupervisors((child) => child.stdin?.once("finish", strike)),
  draft: () =>
    wrap(
      fsPromises,
      "open",
      (old) =>
        async function (this: unknown, ...args) {
          const file = (await old.apply(this, args)) as fsPromises.FileHandle;
          if (isDraft(args[0])) wrap(file, "writeFile", () => (text) => halfWritten(file, text));
          return file;
        },
    ),
  link: () => aroundPlacing("link"),
  rename: () => aroundPlacing("rename"),
  blob: () => aroundPlacing("rename", (path) => path.includes("/.al/blobs/")),
};

function atSupervisors(then: (child: childProcess.ChildProcess) => void): void {
  wrap(
    childProcess,
    "spawn",
    (old) =>
      function (this: unknown, ...args) {
        const child = old.apply(this, args) as childProcess.ChildProcess;
        if (Array.isArray(args[1]) && args[1].includes("_run-agent")) then(child);
        return child;
      },
  );
}

/** A key's file or a config's, or what is to become one. */
function isDraft(path: unknown): boolean {
  return /\/gateway_api_key\/default\/|\/config\.toml$|\/\.[0-9a-f]{8}\.tmp$/.test(String(path));
}

/** Half of a text gets to the file. */
async function halfWritten(file: fsPromises.FileHandle, text: unknown): Promise<void> {
  const whole = String(text);
  await file.write(whole.slice(0, whole.length / 2));
  strike();
}

/** The draft takes the file's place, and then no more happens. */
function aroundPlacing(
  name: "link" | "rename",
  isMeant: (path: string) => boolean = isDraft,
): void {
  wrap(
    fsPromises,
    name,
    (old) =>
      async function (this: unknown, ...args) {
        await old.apply(this, args);
        if (isMeant(String(args[0]))) strike();
      },
  );
}

/** What is written without a handle: a draft of which half gets to the file. */
function atWholeDrafts(): void {
  wrap(
    fsPromises,
    "writeFile",
    (old) =>
      function (this: unknown, path, text, ...rest) {
        if (!isDraft(path)) return old.call(this, path, text, ...rest);
        const half = String(text).slice(0, String(text).length / 2);
        return (old.call(this, path, half, ...rest) as Promise<void>).then(strike);
      },
  );
}

function atFile(path: string): void {
  rmSync(path, { force: true });
  setInterval(() => existsSync(path) && strike(), 5).unref();
}

function arm({ point, nth, marks }: KillOrder): void {
  const meant: Strike = killPoints[point];
  left = nth;
  if (meant.at === "commit") atCommits(meant.of, meant.when);
  else if (meant.at === "migration") atMigration();
  else if (meant.at === "file") atFile(join(marks, meant.of));
  else {
    atCalls[meant.of]();
    if (meant.of === "draft") atWholeDrafts();
  }
  syncBuiltinESMExports();
}

const order = process.env.AL_KILL_AT;
if (order !== undefined) arm(JSON.parse(order) as KillOrder);
