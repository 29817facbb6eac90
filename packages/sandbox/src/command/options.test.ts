import { expect, test } from 'vitest'

import type { WrongValueError } from '../allowed.ts'
import { checkOptions, type SandboxOptions } from '../sandbox-options.ts'
import { inOptionWords, parseArguments } from './options.ts'

test.each([
  [{ tokenLifetime: 0 }, '--lifetime must be a time above 0, at most 8760h'],
  [{ delays: { min: 0, max: 3e9 } }, '--delays must be two times of at most 24 days'],
  [{ port: 0 }, '--port must be a whole number from 1 to 65531, not 0'],
])('%o is refused in the words of the option that was typed', (options, problem) => {
  expect(problemOf(options)).toBe(problem)
})

function problemOf(options: SandboxOptions): string {
  try {
    checkOptions(options)
    return ''
  } catch (error) {
    return inOptionWords((error as WrongValueError).message)
  }
}

test('without options the sandbox has HTTP control on its usual ports', () => {
  expect(parseArguments([])).toEqual({
    kind: 'run',
    options: {
      sandbox: { control: true, port: 8_420, ratePolicies: {} },
      writeEnv: undefined,
      scenario: undefined,
      json: false,
      verdict: false,
      command: [],
    },
  })
})

test('every option is read, and what stands after -- is left alone', () => {
  const line =
    '--policy weblink=25/1s,100/1m --policy general=3/500ms --lifetime 1.5s --records 7 --delays 2ms-30ms --seed 9 ' +
    '--authentication general=private_key_jwt --metadata --scope general=read --token-path weblink=/token ' +
    '--port 9000 --scenario a.json --write-env .env --report out.md --json --verdict -- node app.js --json -- x'
  expect(parseArguments(line.split(' '))).toEqual({
    kind: 'run',
    options: {
      sandbox: {
        control: true,
        port: 9_000,
        tokenLifetime: 1_500,
        records: 7,
        delays: { min: 2, max: 30 },
        seed: 9,
        issuers: {
          general: { clientAuthentication: 'private_key_jwt', scope: 'read', metadata: true },
          weblink: { tokenPath: '/token', metadata: true },
        },
        ratePolicies: {
          general: { limits: [{ quota: 3, window: 500 }] },
          weblink: {
            limits: [
              { quota: 25, window: 1_000 },
              { quota: 100, window: 60_000 },
            ],
          },
        },
      },
      writeEnv: '.env',
      report: 'out.md',
      port: 9_000,
      scenario: 'a.json',
      json: true,
      verdict: true,
      command: ['node', 'app.js', '--json', '--', 'x'],
    },
  })
})

test('an option of one issuer says whose it is', () => {
  expect(parseArguments(['--scope', 'read'])).toEqual({
    kind: 'wrong',
    problems: ['--scope must begin with general= or weblink=, not read'],
  })
})

test.each(['--scope', '--token-path', '--authentication'])('%s with an issuer alone is refused', (option) => {
  expect(parseArguments([option, 'general'])).toEqual({
    kind: 'wrong',
    problems: [`${option} must begin with general= or weblink=, not general`],
  })
  expect(parseArguments(['--scope', 'general='])).toMatchObject({
    options: { sandbox: { issuers: { general: { scope: '' } } } },
  })
})

test('a wrong value of an issuer is named by its option', () => {
  expect(inOptionWords(`"issuers.weblink.tokenPath" must be a path, not 'x'`)).toBe(
    "The text after --token-path weblink= must be a path, not 'x'",
  )
  expect(inOptionWords('"issuers.general.claims" must be an object of claims, without iss')).toBe(
    'The text after --claims general= must be an object of claims, without iss',
  )
  expect(inOptionWords('"records" must be a number')).toBe('"records" must be a number')
})

const policy = (text: string): string =>
  `--policy must be like weblink=25/1s or general=3/1s,180/1m, not ${text}`

test.each<[string, string[]]>([
  [
    '--polici x',
    [
      expect.stringMatching(
        /^Unknown option --polici \(did you mean --policy\?\); allowed: --policy, --lifetime,.*--help$/,
      ) as string,
    ],
  ],
  [
    '--delay 2ms',
    [
      expect.stringMatching(
        /^Unknown option --delay \(did you mean --delays\?\); allowed: --policy,/,
      ) as string,
    ],
  ],
  ['--nothing-like-it', [expect.stringMatching(/^Unknown option --nothing-like-it; allowed: /) as string]],
  ['--claims general', ['--claims must be like general={"roles":["admin"]}, not general']],
  ['--claims weblink=[]', ['--claims must be like general={"roles":["admin"]}, not weblink=[]']],
  ['--scope shop=a', ['--scope must begin with general= or weblink=, not shop=a']],
  ['--metadata=yes', ['--metadata takes no value']],
  ['--policy web=1/1s', [policy('web=1/1s')]],
  ['--policy weblink=0/1s', [policy('weblink=0/1s')]],
  ['--policy weblink=1/1', [policy('weblink=1/1')]],
  ['--policy weblink', [policy('weblink')]],
  ['--lifetime 5', ['--lifetime must be a time such as 500ms, 20s, 5m or 1h, not 5']],
  ['--delays 5ms-2ms', ['--delays must be two times such as 2ms-30ms, not 5ms-2ms']],
  ['--port 65532', ['--port must be a whole number from 1 to 65531, not 65532']],
  ['--lifetime', ["option '--lifetime <time>' argument missing"]],
  ['node app.js', ['Put a command after --: tokenlane-sandbox -- node app.js']],
  ['--', ['Put a command after --, for example: -- node app.js']],
  [
    '--seed x --records -1',
    [
      '--records must be a whole number from 0 to 9999999, not -1',
      '--seed must be a whole number from 0 to 4294967295, not x',
    ],
  ],
])('%s is refused', (line, problems) => {
  expect(parseArguments(line.split(' '))).toEqual({ kind: 'wrong', problems })
})

test('help is asked for anywhere before --', () => {
  const parsed = parseArguments(['--lifetime', '--help'])
  expect(parsed).toEqual({
    kind: 'print',
    text: expect.stringMatching(/^Usage: tokenlane-sandbox \[options\] \[-- /),
  })
  expect(parseArguments(['--', 'node', '--help'])).toMatchObject({ kind: 'run' })
})
