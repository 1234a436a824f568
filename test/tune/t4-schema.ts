/**
 * What Kernel Tuner's published JSON schemas ask for, in our words: T4 results 1.0.0 (kernel_tuner/schema/T4/1.0.0/results-schema.json)
 * and cache files 1.0.0 (kernel_tuner/schema/cache/1.0.0/schema.json).
 */
const number = { type: "number" } as const;
const string = { type: "string" } as const;

export const t4Schema = {
  type: "object",
  properties: {
    schema_version: { type: "string", pattern: "^[0-9]{1,}.[0-9]{1,}.[0-9]{1,}$" },
    results: {
      type: "array",
      items: {
        type: "object",
        required: ["configuration", "times", "invalidity", "correctness"],
        properties: {
          timestamp: string,
          configuration: { type: "object" },
          objectives: { type: "array" },
          times: {
            type: "object",
            properties: {
              compilation_time: number,
              runtimes: { type: "array" },
              framework: number,
              search_algorithm: number,
              validation: number,
            },
          },
          invalidity: { enum: ["timeout", "compile", "runtime", "correctness", "constraints", "correct"] },
          correctness: number,
          measurements: {
            type: "array",
            items: {
              type: "object",
              properties: {
                name: string,
                value: { anyOf: [number, string, { type: "array" }] },
                unit: string,
              },
            },
          },
        },
      },
    },
  },
} as const;

/** Keys of configurations are whole numbers with commas between. */
const key = "^\\d+(,\\d+)*$";

export const cacheSchema = {
  type: "object",
  required: [
    "schema_version",
    "device_name",
    "kernel_name",
    "problem_size",
    "tune_params_keys",
    "tune_params",
    "objective",
    "cache",
  ],
  properties: {
    schema_version: { const: "1.0.0" },
    device_name: string,
    kernel_name: string,
    problem_size: { type: "array", items: { type: "integer" } },
    tune_params_keys: { type: "array", items: string },
    tune_params: { type: "object", additionalProperties: { type: "array" } },
    objective: string,
    cache: {
      type: "object",
      propertyNames: { pattern: key },
      patternProperties: {
        [key]: {
          type: "object",
          required: [
            "time",
            "compile_time",
            "verification_time",
            "benchmark_time",
            "strategy_time",
            "framework_time",
            "timestamp",
          ],
          properties: {
            time: { anyOf: [string, number] },
            times: { type: "array", items: number },
            compile_time: number,
            verification_time: number,
            benchmark_time: number,
            strategy_time: number,
            framework_time: number,
            // A date-time of RFC 3339.
            timestamp: {
              type: "string",
              pattern: "^\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$",
            },
          },
        },
      },
    },
  },
} as const;
