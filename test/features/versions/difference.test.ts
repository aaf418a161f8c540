import { difference, type Compared } from "../../../src/features/versions/difference.ts";

function ran(instanceId: string, config: string, instructions: string): Compared {
  return { instanceId, content: { config, instructions } };
}

test("difference returns a unified diff of each changed text", () => {
  const from = ran("dev-1", '{\n  "scale": 1\n}\n', "Do the work.");
  const to = ran("dev-2", '{\n  "scale": 2\n}\n', "Do the work.\nThen rest.");
  expect(difference(from, to)).toBe(`--- dev-1/config.json
+++ dev-2/config.json
@@ -1,3 +1,3 @@
 {
-  "scale": 1
+  "scale": 2
 }
--- dev-1/SKILL.md
+++ dev-2/SKILL.md
@@ -1,1 +1,2 @@
 Do the work.
+Then rest.
`);
  expect(difference(from, ran("dev-3", from.content.config, "Do the work.\n"))).toBe("");
});

test("difference compares two texts of 30,000 lines without a common one within 30 s", () => {
  const lines = (name: string) =>
    Array.from({ length: 30_000 }, (_, n) => `${name} ${n}\n`).join("");
  const started = performance.now();
  const text = difference(ran("dev-1", "", lines("a")), ran("dev-2", "", lines("b")));
  expect(performance.now() - started).toBeLessThan(30_000);
  expect(text).toMatch(
    /^--- dev-1\/SKILL.md\n\+\+\+ dev-2\/SKILL.md\n@@ -1,30000 \+1,30000 @@\n-a 0/,
  );
  expect(text.match(/^\+b /gm)).toHaveLength(30_000);
});
