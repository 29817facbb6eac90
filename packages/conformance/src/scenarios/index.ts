import type { ScenarioGroup } from '../scenario.ts'
import { aborts } from './aborts.ts'
import { attachment } from './attachment.ts'
import { bodies } from './bodies.ts'
import { errors } from './errors.ts'
import { errorMembers } from './field/error-members.ts'
import { pollutedPrototype } from './field/polluted-prototype.ts'
import { refusedBodies } from './field/refused-bodies.ts'
import { sentAgain } from './field/sent-again.ts'
import { shutdown } from './field/shutdown.ts'
import { unsentUploads } from './field/unsent-uploads.ts'
import { uploads } from './field/uploads.ts'
import { queue } from './queue.ts'
import { redirects } from './redirects.ts'
import { rejections } from './rejections.ts'
import { retries } from './retries.ts'
import { streams } from './streams.ts'
import { timeouts } from './timeouts.ts'
import { tokens } from './tokens.ts'

/** The one list, in the order of the table. */
export const groups: readonly ScenarioGroup[] = [
  tokens,
  attachment,
  rejections,
  bodies,
  streams,
  aborts,
  timeouts,
  redirects,
  retries,
  queue,
  errors,
  uploads,
  unsentUploads,
  refusedBodies,
  errorMembers,
  pollutedPrototype,
  sentAgain,
  shutdown,
]
