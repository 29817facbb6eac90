import { attempt } from './attempt.ts'

declare function postMessage(told: string): void

postMessage(await attempt())
