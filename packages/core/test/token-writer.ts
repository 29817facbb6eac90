import { fileTokenStore } from '../src/node.ts'

// Writes entries until it is killed, as `file-token-store.long.ts` does. An entry says its number as often as it fits.
const [folder = '', first = '0'] = process.argv.slice(2)
const store = fileTokenStore(folder)
let stale: string | undefined
for (let number = Number(first); ;) {
  const claim = await store.claim('name', stale, 50)
  if (claim === 'locked') continue
  if ('fence' in claim) {
    number += 1
    await store.write('name', claim.fence, `${number} `.repeat(500), 60_000)
    process.send?.(number)
  } else {
    stale = claim.entry
    if (number % 7 === 0) await store.drop('name', claim.entry)
  }
}
