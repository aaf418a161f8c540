import { keyOf, namesIn, templateProblem } from "../../../streams/triggers/key-template.ts";

const attributes = { repository: "octo/site", number: "7", branch: "{odd}" };

test.each([
  ["{repository}#{number}", "octo/site#7"],
  ["{branch}", "{odd}"],
  ["{{{number}}}", "{7}"],
  ["{{number}}", "{number}"],
  ["all", "all"],
  ["{repository}#{author}", null],
])("the key of the template %s is %s", (template, key) => {
  expect(keyOf(template, attributes)).toBe(key);
});

test("namesIn lists each attribute of a template once", () => {
  expect(namesIn("{number} {{branch}} {author} {number}")).toEqual(["number", "author"]);
});

test.each([
  ["{repository}#{number}", null],
  ["{repo}", "{repo} is not an attribute; use one of trigger, source, event"],
  ["{number", "a single brace is neither an attribute nor text"],
  ["{number}}", "a single brace is neither an attribute nor text"],
  ["{}", "{} is not an attribute"],
  ["all", "it names no attribute"],
  ["{{number}}", "it names no attribute"],
])("the problem of the template %s is: %s", (template, problem) => {
  const found = templateProblem(template);
  expect(problem === null ? found : found?.startsWith(problem)).toBe(
    problem === null ? null : true,
  );
});
