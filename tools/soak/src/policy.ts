/** What the weblink API allows and its client keeps to; the general API takes any rate. */
export const limits = [
  { quota: 40, window: 1_000 },
  { quota: 500, window: 15_000 },
] as const
