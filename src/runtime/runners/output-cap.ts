/** Bytes of output that a run may log. */
export const maxOutputBytes = 50 * 1024 * 1024;

/** Stands in the log for all further output of a run. */
export const cappedMessage = `output capped: the run wrote more than ${maxOutputBytes} bytes`;
