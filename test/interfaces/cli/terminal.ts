import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { builtAl, compileCache } from "../../helpers/scheduler.ts";
import type { Folders, Line } from "./fake-operator.ts";

/** Why nothing can be tested on a terminal here; null when it can. */
export function whyNoTerminal(): string | null {
  const { status } = spawnSync("script", ["--version"]);
  return status === 0 ? null : "util-linux's script, which makes a terminal, is not there";
}

/** Runs the built `al` on a terminal. Arguments may not need quoting. */
export function onTerminal({ projectDir, home }: Pick<Folders, "projectDir" | "home">, line: Line) {
  const args = typeof line === "string" ? line : line.join(" ");
  const command = `${process.execPath} ${builtAl} ${args}`;
  const env = { PATH: process.env.PATH, HOME: home, AL_HOME: home, TERM: "xterm", ...compileCache };
  const child = spawn("script", ["-qefc", command, "/dev/null"], { cwd: projectDir, env });
  let [output, seen] = ["", 0];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const shown = () => stripVTControlCharacters(output);
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const isShown = (text: string | RegExp) => {
    const fresh = shown().slice(seen);
    return typeof text === "string" ? fresh.includes(text) : text.test(fresh);
  };
  const until = async (text: string | RegExp) => {
    while (!isShown(text)) {
      const isOver = await Promise.race([
        ended.then(() => true),
        once(child.stdout, "data").then(() => false),
      ]);
      if (isOver && !isShown(text)) throw new Error(`ended without ${String(text)}:\n${shown()}`);
    }
  };
  const key = (text: string) => {
    seen = shown().length;
    child.stdin.write(text);
  };
  return {
    /** All that was shown so far, without control sequences. */
    shown,
    /** Resolves once the text was shown after what was typed last; rejects when the process ends first. */
    until,
    key,
    /** Waits for each of these questions, and types its answer. */
    answer: async (...answers: readonly (readonly [question: string | RegExp, line: string])[]) => {
      for (const [question, line] of answers) {
        await until(question);
        key(`${line}\r`);
      }
    },
    /** Types a line; `key` types without Enter. */
    line: (text: string) => key(`${text}\r`),
    ended,
  };
}
