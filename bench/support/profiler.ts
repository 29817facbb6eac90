import { createHook } from 'node:async_hooks'
import { Session, type HeapProfiler, type Profiler } from 'node:inspector/promises'
import { PerformanceObserver } from 'node:perf_hooks'

/** What calls took by function, as `name file:line`. Functions of the runtime itself have no file. */
export type ByFunction = Record<string, number>

/** What one call takes beside CPU time. */
export interface Weight {
  /** Bytes by the function that allocated them, also of what was collected since. */
  readonly bytes: ByFunction
  readonly promises: number
  /** How often a promise's reaction or an async function went on. */
  readonly turns: number
  /** Microseconds that garbage collection stopped the calls for. */
  readonly pauses: number
}

/** Takes samples of the main thread until the function that comes back is called; it returns the shares of functions. */
export async function profileCpu(): Promise<() => Promise<ByFunction>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 100 })
  await session.post('Profiler.start')
  return async () => {
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    return sharesOf(profile)
  }
}

/** Samples are counted, not the time between them: the process may have had to wait for the CPU there. */
function sharesOf({ nodes, samples = [] }: Profiler.Profile): ByFunction {
  const functions = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]))
  const shares: ByFunction = {}
  const busy = samples.map((id) => functions.get(id) ?? '').filter((place) => place !== '(idle)')
  for (const place of busy) shares[place] = (shares[place] ?? 0) + 1 / busy.length
  return shares
}

/** Makes `calls` calls three times, and weighs them: each look disturbs the others. */
export async function weigh(calls: number, work: () => Promise<unknown>): Promise<Weight> {
  const { promises, turns } = await countPromises(work)
  const pauses = await sumPauses(work)
  const bytes = await sampleHeap(work)
  for (const place of Object.keys(bytes)) bytes[place] = (bytes[place] ?? 0) / calls
  return { bytes, promises: promises / calls, turns: turns / calls, pauses: pauses / calls }
}

async function countPromises(work: () => Promise<unknown>): Promise<{ promises: number; turns: number }> {
  const ofPromises = new Set<number>()
  let turns = 0
  const hook = createHook({
    init(id, type) {
      if (type === 'PROMISE') ofPromises.add(id)
    },
    before(id) {
      if (ofPromises.has(id)) turns += 1
    },
  }).enable()
  await work()
  hook.disable()
  return { promises: ofPromises.size, turns }
}

/** Returns microseconds. */
async function sumPauses(work: () => Promise<unknown>): Promise<number> {
  let pauses = 0
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pauses += duration * 1_000
  })
  observer.observe({ entryTypes: ['gc'] })
  await work()
  // entries come a turn later
  await new Promise((resolve) => setTimeout(resolve, 10))
  observer.disconnect()
  return pauses
}

async function sampleHeap(work: () => Promise<unknown>): Promise<ByFunction> {
  const session = new Session()
  session.connect()
  const options = {
    samplingInterval: 4_096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  }
  await session.post('HeapProfiler.startSampling', options)
  await work()
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  const bytes: ByFunction = {}
  addBytes(profile.head, bytes)
  return bytes
}

function addBytes(
  { callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode,
  bytes: ByFunction,
): void {
  const place = placeOf(callFrame)
  bytes[place] = (bytes[place] ?? 0) + selfSize
  for (const child of children) addBytes(child, bytes)
}

/** `send @tokenlane/core/src/send/protected-api.ts:110` */
function placeOf({
  functionName,
  url,
  lineNumber,
}: {
  functionName: string
  url: string
  lineNumber: number
}): string {
  const name = functionName === '' ? '(anonymous)' : functionName
  const file = url
    .replace(/^.*\/node_modules\//, '')
    .replace(/^.*\/packages\//, '@tokenlane/')
    .replace(/^file:.*\/bench\//, 'bench/')
  return file === '' ? name : `${name} ${file}:${lineNumber + 1}`
}
