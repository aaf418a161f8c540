import { describe, expect, test } from "vitest";
import { readDockerfile } from "../../../src/interfaces/doctor/dockerfile.ts";

describe("a Dockerfile, read without being built,", () => {
  test("has one instruction in continued lines, with comments between them", () => {
    const text = "FROM al-agent\nRUN one \\\n  # why\n\n  && two\nCOPY a /\n";
    const { mistakes, sources } = readDockerfile(text);
    expect(mistakes).toEqual([]);
    expect(sources).toEqual([{ line: 6, path: "a" }]);
  });

  test("may hold other languages in here-documents", () => {
    const text =
      "FROM al-agent\nRUN <<EOF\nnot an instruction\nEOF\nCOPY <<A <<B /\nx\nA\ny\nB\nCOPY b /\n";
    expect(readDockerfile(text)).toMatchObject({
      mistakes: [],
      sources: [{ line: 10, path: "b" }],
    });
  });

  test("is built on what its last stage is, by the names of earlier ones", () => {
    const text =
      "ARG V=1\nFROM al-agent:latest AS base\nFROM --platform=linux/amd64 node AS x\nFROM Base\n";
    expect(readDockerfile(text).base).toEqual({ line: 4, image: "al-agent:latest" });
    expect(readDockerfile("ARG V\nFROM al-agent:$V\n").base).toBeNull();
  });

  test("copies files of the agent's folder, in both forms, and not those of stages, addresses and patterns", () => {
    const text =
      'FROM al-agent\nCOPY --chown=al a b /x/\nADD ["c d", "/y/"]\nCOPY --from=x e /\nADD https://example.com/f /\nCOPY *.md $G /\n';
    expect(readDockerfile(text).sources.map(({ path }) => path)).toEqual(["a", "b", "c d"]);
  });

  test("without FROM, or with a word that is no instruction, is wrong in that line", () => {
    expect(readDockerfile("").mistakes).toMatchObject([{ line: 1 }]);
    expect(readDockerfile("# a\n\nRUN x\n").mistakes).toMatchObject([{ line: 3 }]);
    expect(readDockerfile("from al-agent\nWROKDIR /x\n").mistakes).toEqual([
      { line: 2, message: '"WROKDIR" is not a Dockerfile instruction; did you mean "WORKDIR"?' },
    ]);
  });

  test("names what its build loads from networks, once each, also in here-documents", () => {
    const text =
      'FROM al-agent\nRUN apt-get update \\\n  && apt-get install -y jq\nRUN <<EOF\npip install x\ngit clone https://a.test/b\nEOF\nADD https://example.com/f /\nRUN ["npm", "ci"]\nRUN curl -O https://c.test/d\n';
    expect(readDockerfile(text).fetches).toEqual([
      "packages by apt",
      "packages by pip",
      "repositories by git",
      "https://example.com/f",
      "packages by npm",
      "files by curl or wget",
    ]);
    const none = "FROM al-agent\nCOPY a /\nRUN npm run build && mkdir curled\nENV A=curl\n";
    expect(readDockerfile(none).fetches).toEqual([]);
  });
});
