/** True for `npm run test:long`: rounds by the thousand, where `npm test` runs a short form of each. */
export const isLong = process.env.AL_TEST_LONG === "1";
