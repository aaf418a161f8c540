import { randomBytes } from "node:crypto";
import { v7 as uuidV7 } from "uuid";
import { createAnswerLinks } from "../../../src/features/people/answer-links.ts";

const question = { id: uuidV7(), until: 1_000 };

/** Links of a project with these stored questions, by the token of a path. */
function linksTo(stored: readonly { readonly id: string; readonly until: number }[], secret = "s") {
  const { pathOf, read } = createAnswerLinks(
    secret,
    (id) => stored.find((one) => one.id === id) ?? null,
  );
  const tokenTo = (target: string, asked = question) => pathOf(asked, target).slice(8);
  return { pathOf, read, tokenTo };
}

test.each(["ops", "équipe", "t".repeat(120)])(
  "reading an answer link returns its question and the target %s",
  (target) => {
    const { pathOf, read, tokenTo } = linksTo([question]);
    expect(pathOf(question, target)).toMatch(/^\/answer\/[\w-]+$/);
    expect(read(tokenTo(target))).toEqual({ questionId: question.id, target });
  },
);

test("an answer link is short enough for a chat message", () =>
  expect(linksTo([question]).pathOf(question, "ops").length).toBeLessThan(60));

test("the check of answer links rejects a token of another project, question, target or expiry", () => {
  const { read, tokenTo } = linksTo([question]);
  const token = tokenTo("ops");
  const bytes = (text: string) => Buffer.from(text, "base64url");
  const signature = bytes(token).subarray(16, 32);
  const idOf = Buffer.from(uuidV7().replaceAll("-", ""), "hex");
  const forged = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString("base64url");
  for (const other of [
    linksTo([question], "other secret").tokenTo("ops"),
    tokenTo("ops", { ...question, until: 2_000 }),
    forged([bytes(token).subarray(0, 16), signature, Buffer.from("boss")]),
    forged([idOf, signature, Buffer.from("ops")]),
  ]) {
    expect(read(other)).toBeNull();
  }
  expect(read(token)).not.toBeNull();
});

test("the check of answer links rejects each token with one changed character and each other text", () => {
  const { read, tokenTo } = linksTo([question]);
  const token = tokenTo("ops");
  for (let at = 0; at < token.length; at += 1) {
    const changed = token[at] === "A" ? "B" : "A";
    expect(read(token.slice(0, at) + changed + token.slice(at + 1))).toBeNull();
  }
  const texts = ["", "x", `${token}=`, `${token}A`, token.slice(1), "%00", "é".repeat(60)];
  for (const text of [...texts, randomBytes(48).toString("base64url")]) {
    expect(read(text)).toBeNull();
  }
});

test("the check of answer links rejects a link whose question was deleted", () =>
  expect(linksTo([]).read(linksTo([question]).tokenTo("ops"))).toBeNull());
