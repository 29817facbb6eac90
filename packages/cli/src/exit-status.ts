/** What the command's exit status says; stable across releases. */
export const exitStatus = {
  /** Nothing is wrong. */
  fine: 0,
  /** There are findings, or a token or a call failed. */
  findings: 1,
  /** The arguments are wrong. */
  usage: 2,
  /** There was nothing to look at: no application, or one that does not start. */
  couldNotLook: 3,
} as const

/** Why there was nothing to look at. The message holds nothing secret. */
export class CannotLook extends Error {}

/** Arguments that are wrong in a way that only shows when they are used. */
export class WrongUsage extends Error {}
