export type {
  Answer,
  Attached,
  BodyKind,
  ClientErrors,
  Driver,
  Feature,
  Limit,
  RequestBody,
  ScenarioRequest,
} from './driver.ts'
