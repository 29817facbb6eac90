import { expect, test } from 'vitest'

import { withPackageManagers } from './package-managers.ts'

test('a block that installs packages has a tab for each package manager', () => {
  const text = withPackageManagers('Then:\n\n```sh\nnpm install @tokenlane/core axios\n```\n\nDone.\n')
  expect(text).toMatch(/^Then:\n\n::: code-group\n\n```sh \[npm\]\nnpm install @tokenlane\/core axios\n```\n/)
  expect(text).toContain('```sh [pnpm]\npnpm add @tokenlane/core axios\n```')
  expect(text).toContain('```sh [yarn]\nyarn add @tokenlane/core axios\n```')
  expect(text).toMatch(/```sh \[bun\]\nbun add @tokenlane\/core axios\n```\n\n:::\n\nDone\.\n$/)
})

test('each package manager has its own option for development', () => {
  const text = withPackageManagers('```sh\nnpm install --save-dev vitest\n```\n')
  expect(text).toContain('yarn add --dev vitest')
  expect(text).toContain('pnpm add --save-dev vitest')
})

test.each(['npm start', 'npm install ../a.tgz && npm start', 'npm install', 'npm install x\nnpx y'])(
  'a block with "%s" stays as it is',
  (command) => {
    const text = `\`\`\`sh\n${command}\n\`\`\`\n`
    expect(withPackageManagers(text)).toBe(text)
  },
)
