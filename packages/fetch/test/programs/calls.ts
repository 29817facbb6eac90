import { once } from 'node:events'
import { isMainThread, Worker } from 'node:worker_threads'

// taken as early as an application can
const { fetch } = globalThis

await fetch(`${process.env['API']}${isMainThread ? 'in' : 'worker'}`)
if (isMainThread) await once(new Worker(new URL(import.meta.url)), 'exit')
