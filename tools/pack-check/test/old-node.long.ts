// Long: packs and installs every package, and takes a Node from npm.
import { expect, test } from 'vitest'
import { makeProject } from '../src/project.ts'
import { run } from '../src/run.ts'
import { binaryOf, oldNode } from '../src/runtime.ts'

test(`${oldNode.name} is named as too old, together with what is needed`, { timeout: 600_000 }, async () => {
  using project = await makeProject()
  const code = `import { tokensFor } from '@tokenlane/core'
    try { tokensFor({}) } catch ({ code, message }) { console.log(code, message) }`
  const { output } = await run(await binaryOf(oldNode), ['--input-type=module', '--eval', code], {
    cwd: project.folder,
  })
  expect(output).toMatch(
    /^RUNTIME_UNSUPPORTED Cannot create token manager: Node v20\.20\.2 is too old; use Node 22\.19, 24, 26 or later/,
  )
})
