import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { createSchemaChecker } from "../../../../src/foundation/config/schema-check/schema-checker.ts";

const aString = '{"type":"string"}';
/** Time without end for a value that nearly matches. */
const slow = '{"pattern":"^(a+)+$"}';
const nearly = `${"a".repeat(40)}!`;

it("checks schemas and values in a thread of its own", async () => {
  const checker = createSchemaChecker();
  const [wrong, right, met, not] = await Promise.all([
    checker.problemOf('{"type":"strin"}'),
    checker.problemOf(aString),
    checker.mismatch(aString, "a"),
    checker.mismatch(aString, { a: 1 }),
  ]);
  expect(wrong).toMatchObject({ line: 1, column: 9 });
  expect([right, met, not]).toEqual([null, null, "it must be string"]);
});

it("ends a check that takes too long, and leaves other values and schemas their time", async () => {
  const checker = createSchemaChecker({ timeoutMs: 500 });
  let beats = 0;
  const beat = setInterval(() => beats++, 10);
  const order: string[] = [];
  const mismatch = (name: string, schema: string, value: unknown) =>
    checker.mismatch(schema, value).finally(() => order.push(name));
  const reasons = await Promise.all([
    mismatch("slow", slow, nearly),
    mismatch("slow", slow, nearly),
    mismatch("good", slow, "aaa"),
    mismatch("other", aString, "a"),
  ]);
  clearInterval(beat);
  const tooMuch: unknown = expect.stringContaining(
    "it can't be checked: checking it takes too much time",
  );
  // A value that takes too long says nothing about the schema and its other values.
  expect(reasons).toEqual([tooMuch, tooMuch, null, null]);
  expect(order).toEqual(["slow", "other", "slow", "good"]);
  expect(await checker.problemOf(slow)).toBeNull();
  // This thread went on meanwhile.
  expect(beats).toBeGreaterThan(10);
});

it("survives a schema that refers to itself without end", async () => {
  const checker = createSchemaChecker();
  expect(await checker.mismatch('{"$ref":"#"}', 1)).toContain("Maximum call stack");
  expect(await checker.mismatch(aString, "a")).toBeNull();
});

it("gives a reason in one line of bounded length", async () => {
  const checker = createSchemaChecker();
  const closed = '{"additionalProperties":false}';
  const reason = await checker.mismatch(closed, { [`a\n${"b".repeat(10_000)}`]: 1 });
  expect(reason).not.toContain("\n");
  expect(reason?.length).toBeLessThanOrEqual(280);
});

it("does not keep its process alive", () => {
  const url = new URL(
    "../../../../src/foundation/config/schema-check/schema-checker.ts",
    import.meta.url,
  );
  const script = `
    const { createSchemaChecker } = await import(${JSON.stringify(url.href)});
    console.log(await createSchemaChecker().mismatch('{"type":"string"}', 1));`;
  const options = { encoding: "utf8", timeout: 20_000 } as const;
  const { stdout, status } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", script],
    options,
  );
  expect([stdout, status]).toEqual(["it must be string\n", 0]);
});

it("refuses a schema whose answer would come later: every value would meet it", async () => {
  const checker = createSchemaChecker();
  const late = '{\n  "$async": true,\n  "required": ["a"]\n}';
  expect(await checker.problemOf(late)).toMatchObject({ line: 2, column: 13 });
  expect(await checker.mismatch(late, {})).toContain("$async");
  expect(await checker.mismatch(aString, "a")).toBeNull();
});
