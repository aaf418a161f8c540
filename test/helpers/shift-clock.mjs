// `NODE_OPTIONS=--import=…`: the process lives AL_TEST_CLOCK_SHIFT_MS ahead of the machine's clock.
const shiftMs = Number(process.env.AL_TEST_CLOCK_SHIFT_MS ?? 0);
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shiftMs);
    else super(...given);
  }
  static now() {
    return RealDate.now() + shiftMs;
  }
};
