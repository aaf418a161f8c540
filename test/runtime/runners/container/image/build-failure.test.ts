import { lastValueFrom } from "rxjs";
import { describe, expect, it } from "vitest";
import { buildImage } from "../../../../../src/runtime/runners/container/image/build.ts";
import type { TarEntry } from "../../../../../src/runtime/runners/container/image/archive.ts";
import { reasonOf } from "../../../../../src/foundation/errors.ts";
import { testBase, testEngine, testImage } from "../../../../helpers/docker.ts";

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

describe.skipIf(missing !== null)("a build that fails", () => {
  it("leads with the command's own error, without its other output and that of earlier steps", async () => {
    const noise = "seq 1 100; echo warned >&2";
    const errors = "echo first >&2; printf 'se' >&2; echo cond >&2";
    const failure = await failureOf(`RUN ${noise}`, `RUN seq 1 100; ${errors}; exit 9`);
    const [first, second, command = "", ...more] = failure.split("\n");
    expect([first, second]).toEqual(["first", "second"]);
    expect(command).toMatch(/^RUN seq 1 100.*\(step 3\/3\) returned a non-zero code: 9 while/);
    expect(command).toContain(`the image ${tag} was built; fix the Dockerfile`);
    expect(more).toEqual([]);
  });

  it("has the last lines of a command that says its error on standard output", async () => {
    const failure = await failureOf("RUN seq 1 100; exit 1");
    expect(failure).toMatch(/^96\n97\n98\n99\n100\nRUN seq/);
  });

  it("leads with what the engine says where no command ran", async () => {
    const failure = await failureOf("COPY nothing /opt/");
    expect(failure).toMatch(/^COPY failed: .*nothing.*does not exist\nCOPY nothing \/opt\/ \(step/);
  });

  it.each([
    [
      "apk on Debian",
      ["RUN apk add --no-cache tree yq && echo done"],
      /^\/bin\/sh: 1: apk: not found\n[^]*apk is the package manager of Alpine[^]*RUN apt-get update && apt-get install -y --no-install-recommends tree yq on Debian and Ubuntu, after USER root/,
    ],
    [
      "yum on Debian",
      ["RUN yum -y install tree"],
      /^\/bin\/sh: 1: yum: not found\n[^]*apt-get install -y --no-install-recommends tree on Debian/,
    ],
    [
      "apt-get elsewhere",
      ["RUN echo '/bin/sh: apt-get: not found' >&2; exit 127; apt-get install -y tree"],
      /apt-get is the package manager of Debian and Ubuntu[^]*RUN apk add --no-cache tree on Alpine, RUN dnf install -y tree on Fedora/,
    ],
    [
      "a command without rights",
      ["USER 10001", "RUN touch /etc/mine"],
      /^touch: .*Permission denied\n[^]*put USER root before it/,
    ],
  ])("says what to do about %s", async (_name, lines, expected) => {
    expect(await failureOf(...lines)).toMatch(expected);
  });
});
