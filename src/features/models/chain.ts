/** Until when a model is left out, in epoch ms, by the model's name. */
export type Cooldowns = ReadonlyMap<string, number>;

/**
 * The order in which a run tries its models: as configured, but those in cooldown last, the one that is over
 * soonest first. None is dropped: when all are in cooldown, trying is better than failing.
 */
export function orderChain<Model extends { readonly name: string }>(
  models: readonly Model[],
  cooldowns: Cooldowns,
  now: number,
): readonly Model[] {
  const until = ({ name }: Model) => {
    const end = cooldowns.get(name) ?? 0;
    return end > now ? end : 0;
  };
  return models.toSorted((a, b) => until(a) - until(b));
}

/** The longest cooldown that a run may ask for, in ms: a run must not take a model from the others for long. */
const longestMs = 3_600_000;

/** The cooldowns after one more report; those that are over are forgotten, so the map stays as small as the config. */
export function withCooldown(
  cooldowns: Cooldowns,
  model: string,
  until: number,
  now: number,
): Cooldowns {
  const live = [...cooldowns].filter(([, end]) => end > now);
  return new Map([
    ...live,
    [model, Math.max(Math.min(until, now + longestMs), cooldowns.get(model) ?? 0)],
  ]);
}
