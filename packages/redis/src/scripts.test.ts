import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const files = {
  limiter: 'limiter/limiter.lua',
  claim: 'store/claim.lua',
  write: 'store/write.lua',
  release: 'store/release.lua',
  drop: 'store/drop.lua',
  serverFacts: 'server-facts.lua',
}

test('the scripts are the Lua files; `vitest run packages/redis/src/scripts -u` writes them', async () => {
  const scripts = Object.entries(files).map(([name, file]) => {
    const lua = readFileSync(new URL(file, import.meta.url), 'utf8')
    // comments leave empty lines, so that a line number in an error of Redis is one of the file
    const text = lua.replaceAll(/^[ \t]*(?:--.*)?/gm, '')
    const sha = createHash('sha1').update(text).digest('hex')
    return `export const ${name}: Script = { sha: '${sha}', text: ${JSON.stringify(text)} }`
  })
  const head = `// The Lua files as text, for bundlers: \`scripts.test.ts\` writes it.\nimport type { Script } from './redis-client.ts'\n`
  await expect([head, ...scripts, ''].join('\n')).toMatchFileSnapshot('./scripts.ts')
})
