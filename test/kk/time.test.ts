import { it } from "vitest";
import { compile, onnx, targets } from "../../src/index.js";
import { cyclesOf, tilingOf } from "../../ir/index.js";
import { lowerToTile, hoistLoads, allocateUb, insertSync } from "../../passes/index.js";
const t = (name: string, f: () => unknown) => { for (let i=0;i<300;i++) f(); const n=500; const s=performance.now(); for (let i=0;i<n;i++) f(); console.log(name, ((performance.now()-s)/n*1000).toFixed(1),"us"); };
it("times", () => {
  for (const [n,op] of [["elements",onnx.gatherElements({data:["f32",[32768,1024]],indices:["i32",[32768,1024]],axis:1})],["gather",onnx.gather({ data: ["f32", [1000, 763]], indices: ["i32", [4099]], axis: 0 })],["kv",onnx.gather({data:["bf16",[2048,16,8,128]],indices:["i32",[64,32]],axis:0})]] as const) for (const target of [targets.ascendA2,targets.webgpu]) {
    const residency = n==="kv" ? "gm" as const : undefined;
    const k = compile(op, { target, ...(residency?{residency}:{}) });
    console.log(n,target.name,JSON.stringify(k.tile.schedule), cyclesOf(k.tile,target).cycles);
    t("compile", () => compile(op, { target, ...(residency?{residency}:{}) }));
    t("compile noverify", () => compile(op, { target, verifyEach:false,...(residency?{residency}:{}) }));
    t("clock", () => cyclesOf(k.tile, target));
    const access = k.access!;
    const ctx = { target, report: () => {} };
    t("tiling.traffic", () => tilingOf(access, access.schedule as any, target).traffic);
    t("tiling.footprint", () => tilingOf(access, access.schedule as any, target).footprint);
    t("lower", () => lowerToTile.run(access, ctx));
    t("lower all", () => [hoistLoads, allocateUb, insertSync].reduce((f, p) => p.run(f, ctx), lowerToTile.run(access, ctx)));
  }
});
