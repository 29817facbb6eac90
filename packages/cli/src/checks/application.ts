// The application itself: its options, its env file, its packages and its clients.
import { missingText } from '../application/from-environment.ts'
import { type Check, row, table, together } from './finding.ts'
import { reasonIn } from '../failure-code.ts'
import { processFloor } from './tls-settings.ts'
import { sentence } from './words.ts'

const environment = 'environment variables'

const checkRefused: Check = row({
  cases: ({ refused }) =>
    refused.flatMap((error) => {
      const reason = reasonIn(error)
      const [readBy = '', path] = / \(read by `([^`]+)`\)$/.exec(reason) ?? []
      const [seen = '', fix] = reason
        .slice(0, reason.length - readBy.length)
        .split(/; allowed: |(?<=unsafe for secrets and tokens); /, 2)
      if (processFloor.test(seen)) return []
      const option = path ?? /`([\w.[\]]+)`/.exec(seen)?.[1]
      const place = Array.from(seen.matchAll(/(?:environment variable|file) ([^\s:]+)/g)).at(-1)?.[1]
      const named = place ?? (option === undefined ? 'the option named above' : `\`${option}\``)
      const [missing, several] = /^Missing environment variable(s)?|is missing$/.exec(seen) ?? []
      return [{ seen, fix, option, named, missing, several }]
    }),
  id: 'option-wrong',
  subject: ({ option, missing }) => option ?? (missing ? environment : 'options'),
  seen: ({ seen }) => sentence(seen),
  why: ({ missing, several }) =>
    `The application cannot start ${missing ? 'without' : 'with'} ${several ? 'them' : 'it'}.`,
  fix({ seen, fix, named, missing }) {
    if (fix === undefined) return fixOf(seen, named)
    const verb = missing ? 'Set' : 'Correct'
    return fix.startsWith('use ') ? `${verb} ${named}: ${fix}.` : `${verb} ${named}. Allowed: ${fix}.`
  },
})

const checkMissingApis: Check = row({
  cases: ({ missingApis }) => (missingApis.length === 0 ? [] : [`${missingText(missingApis)}.`]),
  severity: 'warning',
  id: 'option-wrong',
  subject: environment,
  seen: (seen) => seen,
  why: 'Calls to that API are sent without a token.',
  fix: (seen) => `${fixOf(seen, '')} To check the issuer alone, pass its URL as an option.`,
})

function fixOf(seen: string, option: string): string {
  if (/environment variable/i.test(seen))
    return 'Set the environment variables named above, or use --env-file.'
  return seen.endsWith('is missing') ? `Create ${option}, or correct its path.` : `Correct ${option}.`
}

const checkEnvFile: Check = table({
  cases: ({ envFile }) =>
    (['overridden', 'cut', 'early'] as const)
      .map((how) => ({ how, names: envFile?.[how] ?? [] }))
      .filter(({ names }) => names.length > 0),
  severity: 'info',
  subject: ({ names }) => names.join(' and '),
  rows: [
    {
      id: 'env-file-ignored',
      when: ({ how }) => how === 'overridden',
      seen: 'The --env-file sets it to another value than the environment in which this command was started.',
      why: 'The environment overrides the file, as with `node --env-file`: changing the file changes nothing.',
      fix: 'If another finding is about it, unset or correct it in the environment first.',
    },
    {
      id: 'env-file-ignored',
      when: ({ how }) => how === 'cut',
      seen: 'Its value in the --env-file has a # and no quotes, so it is cut there.',
      why: 'A # begins a comment where there are no quotes.',
      fix: 'Put the value in quotes.',
    },
    {
      id: 'env-file-ignored',
      seen: `It is set only in the --env-file. This command applies it, but \`node --env-file\` does not: Node reads this variable before it reads the file.`,
      why: 'An application that is started with `node --env-file` runs without it.',
      fix: 'Set it in the environment that starts Node. Variables in a Docker or systemd env file are in that environment.',
    },
  ],
})

const checkPackages: Check = table({
  cases({ packages }) {
    const own = packages.find(({ name }) => name === '@tokenlane/core')
    if (own === undefined) return []
    const copies = packages.filter(({ core }) => core !== own.core)
    const differing = packages.filter(({ version }) => version !== own.version)
    return copies.length + differing.length === 0 ? [] : [{ own, copies, differing }]
  },
  subject: '@tokenlane/core',
  rows: [
    {
      id: 'core-copies',
      severity: 'warning',
      when: ({ copies }) => copies.length > 0,
      seen: ({ copies }) =>
        `${copies.map(({ name }) => name).join(', ')} and the application use different copies of @tokenlane/core.`,
      why: "One copy may not recognize the other's errors and options.",
      fix: 'Install the same version of all @tokenlane packages and run `npm dedupe`.',
    },
    {
      id: 'packages-differ',
      severity: 'info',
      seen: ({ own, differing }) =>
        `@tokenlane/core is ${own.version}; ${differing.map(({ name, version }) => `${name} is ${version}`).join(', ')}.`,
      why: 'Only packages of the same release are tested together.',
      fix: 'Update all @tokenlane packages to the same release.',
    },
  ],
})

const testing = /(?:^|[.-])(?:test|testing|tst|uat|qa|dev|stage|staging|sandbox|preprod|int)\d*(?=[.-])/

const checkEnvironments: Check = row({
  cases: ({ configuration }) =>
    configuration.apis.flatMap(({ baseUrl, issuer }) => {
      const from = configuration.issuers.find(({ name }) => name === issuer)
      if (from === undefined) return []
      const [api, auth] = [new URL(baseUrl).hostname, new URL(from.url).hostname]
      return testing.test(api) === testing.test(auth)
        ? []
        : [{ baseUrl, issuer, api, auth, option: from.option }]
    }),
  severity: 'warning',
  subject: ({ baseUrl }) => baseUrl,
  id: 'environments-mixed',
  seen: ({ api, auth, issuer }) =>
    `The API is at ${api} and its issuer "${issuer}" at ${auth}: one of them looks like a test environment.`,
  why: 'Tokens from one environment are refused in the other.',
  fix: ({ option }) =>
    `Use the issuer and the API of the same environment in \`${option}\` and the API's \`baseUrl\`.`,
})

export const checkApplication: Check = together(
  checkRefused,
  checkMissingApis,
  checkEnvFile,
  checkEnvironments,
  checkPackages,
)
