import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { fileTokenStore } from '@tokenlane/core/node'
import { createRateLimiter, type StoreClaim, type TokenStore } from '@tokenlane/core/fleet'

import { limiterContract, storeContract } from '../src/index.ts'

interface Place {
  entry?: { readonly text: string; readonly until: number } | undefined
  lock?: { readonly fence: string; readonly until: number } | undefined
}

/** As short as a store can be: shared by the managers of one process. */
function memoryStore(): TokenStore {
  const places = new Map<string, Place>()
  let fences = 0
  const placeOf = (name: string): Place => {
    const place = places.get(name) ?? {}
    places.set(name, place)
    if (place.entry !== undefined && place.entry.until <= performance.now()) place.entry = undefined
    if (place.lock !== undefined && place.lock.until <= performance.now()) place.lock = undefined
    return place
  }
  return {
    async claim(name, stale, lease): Promise<StoreClaim> {
      const place = placeOf(name)
      if (place.entry !== undefined && place.entry.text !== stale) return { entry: place.entry.text }
      if (place.lock !== undefined) return 'locked'
      fences += 1
      place.lock = { fence: String(fences), until: performance.now() + lease }
      return { fence: place.lock.fence }
    },
    async write(name, fence, text, lifetime) {
      const place = placeOf(name)
      if (place.lock?.fence !== fence) return
      place.entry = { text, until: performance.now() + lifetime }
      place.lock = undefined
    },
    async release(name, fence, pause) {
      const place = placeOf(name)
      if (place.lock?.fence === fence) place.lock = { fence: '', until: performance.now() + pause }
    },
    async drop(name, entry) {
      const place = placeOf(name)
      if (place.entry?.text === entry) place.entry = undefined
    },
  }
}

const store = memoryStore()
storeContract({ name: 'a store in memory', open: () => store })
limiterContract({ name: "core's own limiter", create: () => createRateLimiter() })

const folder = mkdtempSync(join(tmpdir(), 'contract-'))
storeContract({
  name: 'fileTokenStore',
  open: () => fileTokenStore(folder),
  close: () => rmSync(folder, { recursive: true, force: true }),
})
