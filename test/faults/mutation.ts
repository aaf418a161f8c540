/** A defence taken away by hand: at least one of the tests has to notice. */
export interface Mutation {
  /** What the defence keeps out, as a sentence of the table says it. */
  readonly defence: string;
  /** The file that is changed, from the root of the checkout. */
  readonly file: string;
  /** Text that is in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Files of tests, from the root; one of their tests fails. */
  readonly tests: readonly string[];
  /** Only the tests whose name holds this are run. */
  readonly only?: string;
  /** True when the tests run the built program, which is then built anew. */
  readonly built?: boolean;
}
