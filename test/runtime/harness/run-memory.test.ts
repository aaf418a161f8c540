import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JobMemory } from "../../../src/foundation/contracts/job.ts";
import { createRunMemory } from "../../../src/runtime/harness/run-memory.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { aJobMemory } from "./jobs.ts";

const schema = { path: "state.json", file: "schemas/state.json", text: '{"required":["id"]}' };

function opened(...memories: readonly Partial<JobMemory>[]) {
  const workDir = tempDir();
  const memory = memories.map((one) => aJobMemory({ maxBytes: 20, maxFileBytes: 15, ...one }));
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(workDir, path)), { recursive: true });
    await writeFile(join(workDir, path), text);
  };
  return { ...createRunMemory({ memory, workDir }), write, workDir };
}

describe("the check of a run's memory", () => {
  test("passes for a folder that is missing, and for files within their limits", async () => {
    const { answer, write } = opened({});
    expect(await answer()).toMatchObject({ ok: true, isWithin: true });
    await write("memory/a/b.md", "0123456789");
    expect(await answer()).toEqual({
      ok: true,
      isWithin: true,
      memories: [{ tree: "memory", bytes: 10, maxBytes: 20, problems: [] }],
    });
  });

  test("names what is over a limit, links, and files that don't match their schema", async () => {
    const { answer, write, workDir } = opened({ maxBytes: 20, schemas: [schema] });
    await write("memory/a", "0123456789abcdef");
    await write("memory/b", "0123456789");
    await symlink("/etc/passwd", join(workDir, "memory/link"));
    const { isWithin, memories } = await answer();
    expect([isWithin, memories[0]?.problems]).toEqual([
      false,
      [
        "memory/ has 26 bytes, of at most 20 bytes.",
        "memory/a has 16 bytes, of at most 15 bytes a file.",
        "memory/link is a link.",
      ],
    ]);
    await rm(join(workDir, "memory"), { recursive: true });
    for (const [text, problem] of [
      ['{"id":1}', null],
      [
        "{}",
        "memory/state.json does not match schemas/state.json: it must have required property 'id'.",
      ],
      ["{", /^memory\/state.json is not JSON: /],
    ] as const) {
      await write("memory/state.json", text);
      const [found] = (await answer()).memories;
      if (problem === null) expect(found?.problems).toEqual([]);
      else expect(found?.problems).toEqual([expect.stringMatching(problem)]);
    }
  });

  test("passes over a memory that the run only reads", async () => {
    const { answer, write } = opened({ tree: "shared/team", isReadOnly: true });
    await write("shared/team/a", "x".repeat(100));
    expect(await answer()).toEqual({ ok: true, isWithin: true, memories: [] });
  });

  test("has news for the model once, when the problems change", async () => {
    const { news, write } = opened({});
    expect(await news()).toBeNull();
    await write("memory/a", "x".repeat(21));
    expect(await news()).toMatch(/^memory\/ has 21 bytes, of at most 20.*would be kept/);
    expect(await news()).toBeNull();
    await write("memory/a", "x");
    expect(await news()).toBe("The memory is within its limits again.");
    expect(await news()).toBeNull();
  });
});
