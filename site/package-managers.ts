// A block that installs packages becomes tabs, one for each package manager.

const managers = {
  npm: { install: 'npm install', dev: '--save-dev' },
  pnpm: { install: 'pnpm add', dev: '--save-dev' },
  yarn: { install: 'yarn add', dev: '--dev' },
  bun: { install: 'bun add', dev: '--dev' },
}

const installing = /^```sh\nnpm install (?<packages>[-@\w][^\n&|;]*)\n```\n/gm

/** Returns the text with a tab for each package manager where a block is one `npm install` of packages. */
export function withPackageManagers(text: string): string {
  return text.replaceAll(installing, (_, packages: string) => {
    const tabs = Object.entries(managers).map(([name, { install, dev }]) => {
      const options = packages.replace(/--save-dev|-D\b/, dev)
      return `\`\`\`sh [${name}]\n${install} ${options}\n\`\`\`\n`
    })
    return `::: code-group\n\n${tabs.join('\n')}\n:::\n`
  })
}
