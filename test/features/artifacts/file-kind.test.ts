import { fileKind, mediaType } from "../../../src/features/artifacts/file-kind.ts";

test.each([
  ["89504e470d0a1a0a0000000d", "png", "image/png"],
  ["ffd8ffe000104a4649460001", "jpeg", "image/jpeg"],
  ["474946383961010001000000", "gif", "image/gif"],
  ["524946461a00000057454250", "webp", "image/webp"],
  ["524946461a00000057415645", "binary", "application/octet-stream"],
  ["7f454c460201010000000000", "binary", "application/octet-stream"],
  ["", "binary", "application/octet-stream"],
])("a content that begins with %s is of the kind %s and served as %s", (hex, kind, type) => {
  const found = fileKind(false, Buffer.from(hex, "hex"));
  expect([found, mediaType(found)]).toEqual([kind, type]);
});

test("a text is never an image or a page, whatever it contains", () => {
  const kind = fileKind(true, Buffer.from("GIF89a<script>"));
  expect(mediaType(kind)).toBe("text/plain; charset=utf-8");
});
