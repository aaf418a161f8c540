const mebibyte = 1024 * 1024;

/** The largest body of a delivery that a project may allow, in bytes. */
export const maxAllowedBodyBytes = 128 * mebibyte;
/** Room for a document with such a body as a text in it, each of whose characters may need an escape. */
export const maxDocumentBytes = 2 * maxAllowedBodyBytes + 16 * mebibyte;
/** Bodies up to this size are shown whole and indented; larger ones would block the event loop. */
export const maxReadableBytes = mebibyte;
