import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastValueFrom } from "rxjs";
import { buildImage } from "../../../../../src/runtime/runners/container/image/build.ts";
import type { TarEntry } from "../../../../../src/runtime/runners/container/image/archive.ts";
import { reasonOf } from "../../../../../src/foundation/errors.ts";
import { tempDir } from "../../../../helpers/temp-dir.ts";
import { testBase, testEngine, testImage } from "../../../../helpers/docker.ts";
import { like } from "../../../../helpers/like.ts";

const { engine, missing } = await testEngine();
const tag = testImage("failure");

async function* context(lines: readonly string[]): AsyncGenerator<TarEntry> {
  const content = Buffer.from([`FROM ${testBase}`, ...lines].join("\n"));
  yield await Promise.resolve({ type: "content", path: "Dockerfile", content });
}

/** Why a Dockerfile with these lines cannot be built. */
async function failureOf(...lines: readonly string[]): Promise<string> {
  const build$ = buildImage(engine, { tag, labels: {}, entries: () => context(lines) });
  return lastValueFrom(build$).then(() => "it was built", reasonOf);
}

describe.skipIf(missing !== null)("a failing image build", () => {
  test("has an error that begins with the last output lines of the command", async () => {
    const failure = await failureOf("RUN seq 1 100", "RUN seq 1 100; exit 9");
    const lines = failure.split("\n");
    expect(lines.slice(0, -1)).toEqual(["96", "97", "98", "99", "100"]);
    expect(lines.at(-1)).toMatch(/^RUN seq 1 100.*\(step 3\/3\) returned a non-zero code: 9 while/);
    expect(lines.at(-1)).toContain(`the image ${tag} was built; fix the Dockerfile`);
  });

  test("shows how much of a large build context is sent", async () => {
    const from = join(tempDir(), "large");
    const size = 9 * 1024 ** 2;
    writeFileSync(from, "");
    truncateSync(from, size);
    async function* entries(): AsyncGenerator<TarEntry> {
      yield* context(["RUN exit 9"]);
      yield { type: "file", path: "large", from, size, executable: false };
    }
    const texts: string[] = [];
    await buildImage(engine, { tag, labels: {}, entries })
      .forEach((event) => void ("text" in event && texts.push(event.text)))
      .catch(reasonOf);
    const sent = /^sending the context: [4-9]\.\d MiB so far$/;
    expect(texts.slice(1, 4)).toEqual([sent, sent, /^Step 1/].map((text) => like(text)));
  });

  test.each([
    ["COPY nothing /opt/", /^COPY failed: .*nothing.*does not exist\nCOPY nothing \/opt\/ \(step/],
    ["RUN touch /etc/mine", /^touch: .*Permission denied\n[^]*put USER root before a command/],
    ["FROM registry.invalid/none:1", /registry\.invalid[^]*can't be pulled: pull or import it/],
  ])("a failed image build has a reason and advice: %s", async (line, expected) =>
    expect(await failureOf("USER 10001", line)).toMatch(expected),
  );
});
