#include "slots_rig.h"
START_TEST(look) {
    const char *const set[] = {"memory.latency=600", "si.trigger=half", "sm.registers=32768", "si.yield=off", "its.switch_latency=7", "si.switch_latency=3", NULL};
    rig_run("si", set, "@%q bra T; ld.global.u32 %r2,[%a+1024]; add.u32 %r2,%r2,1; bra J;\n"
                            "T: ld.global.u32 %r2,[%a+2048]; add.u32 %r2,%r2,2;\nJ: st.global.u32 [%a],%r2;\n", 128);
    rig_print();
    const char *const set2[] = {"memory.latency=600", "sm.registers=32768", "sched.policy=two_level", "sched.active=1", NULL};
    (void)set2;
    rig_run("dws", (const char*[]){"memory.model=fixed","dws.memory=revive","memory.latency=600","sm.registers=32768", NULL}, 
    "ld.global.u32 %r2,[%a]; add.u32 %r2,%r2,1; selp.b32 %r3,0,1024,%q; cvt.u64.u32 %b,%r3; add.u64 %b,%a,%b; ld.global.u32 %r2,[%b]; add.u32 %r2,%r2,1; add.u32 %r4,%r2,1; st.global.u32 [%a],%r4;", 64);
    rig_print();
}
END_TEST
SUITE(timing_sm_select) {
    tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
    TEST(look);
}
