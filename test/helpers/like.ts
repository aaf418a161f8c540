/** For a text in an expected object: any that matches, or that contains this one. */
export const like = (text: RegExp | string): string =>
  (typeof text === "string"
    ? expect.stringContaining(text)
    : expect.stringMatching(text)) as string;
