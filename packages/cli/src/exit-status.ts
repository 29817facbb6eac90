/** What the command's exit status says; stable across releases. */
export const exitStatus = {
  /** Nothing is wrong. */
  fine: 0,
  /** There are findings, or a token or a call failed. */
  findings: 1,
  /** The arguments are wrong. */
  usage: 2,
  /** Nothing could be looked at: no application was found, or it cannot be loaded. */
  couldNotLook: 3,
} as const

/** Says why nothing could be looked at. The message holds nothing secret. */
export class CannotLook extends Error {}

/** Says which argument turned out to be wrong only when it was used. */
export class WrongUsage extends Error {}
