/** What a timer takes at most, in milliseconds: one that is set for more goes off at once. */
export const longestTimer = 2_147_483_647
