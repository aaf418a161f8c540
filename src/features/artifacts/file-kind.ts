/** How the content of a file may be shown: as text, as an image of the media type `image/<kind>`, or only downloaded. */
export const fileKinds = ["text", "png", "jpeg", "gif", "webp", "binary"] as const;
export type FileKind = (typeof fileKinds)[number];

/** How many first bytes of a content tell its kind. */
export const magicBytes = 12;

/** First bytes in hex; `.` stands for any digit. */
const magic: readonly (readonly [FileKind, RegExp])[] = [
  ["png", /^89504e470d0a1a0a/],
  ["jpeg", /^ffd8ff/],
  ["gif", /^47494638(37|39)61/],
  ["webp", /^52494646.{8}57454250/],
];

/** The kind of a content by its first bytes, whatever its name: an SVG and an HTML page are texts. */
export function fileKind(isText: boolean, start: Buffer): FileKind {
  if (isText) return "text";
  const hex = start.toString("hex");
  return magic.find(([, pattern]) => pattern.test(hex))?.[0] ?? "binary";
}

/** The media type of a download. */
export function mediaType(kind: FileKind): string {
  if (kind === "text") return "text/plain; charset=utf-8";
  return kind === "binary" ? "application/octet-stream" : `image/${kind}`;
}
