"""Tests failures, objects of other contexts, garbage collection in any order, threads, and stopped launches."""
import gc
import itertools
import mmap
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import heddle
import numpy as np
import pytest


def test_each_status_is_an_exception(odd_ptx, scale_ptx):
    with heddle.Context("functional", cycle_limit=10_000) as g:
        m = g.module(odd_ptx, "odd.ptx")
        for kernel, error, text, kind in (
            ("fault", heddle.FaultError, "0x40", "address"),
            ("trapped", heddle.FaultError, "trap", "other"),
            ("spin", heddle.DeadlockError, "spin", None),
        ):
            with pytest.raises(error, match=text) as e:
                m[kernel][1, 32]()
            assert kind is None or e.value.fault == kind
            assert isinstance(e.value, heddle.HeddleError) and not str(e.value).endswith("\n")
            m["nop"][1, 32]()  # the context still works
        with pytest.raises(heddle.FaultError) as e:
            m["odd"][1, 1](np.zeros(100_000))
        assert e.value.fault == "alignment" and e.value.status == 3
        with pytest.raises(heddle.UsageError, match="mine.ptx:5:"):
            g.module(scale_ptx.split("{")[0] + "{ ret }", "mine.ptx")
        wrong = g.module(scale_ptx.split("{")[0] + "{ nonsense; }", "mine.ptx")
        with pytest.raises(heddle.UsageError, match="mine.ptx:5:.*nonsense"):
            wrong.kernel[1, 1](None, None, 1.0, 1)
        with pytest.raises(heddle.UsageError, match="nothing.ptx"):
            g.module_file("nothing.ptx")
        with pytest.raises(heddle.UsageError):
            m["nop"][1, 2000]()
        with pytest.raises(heddle.UsageError):
            m["nop"][0, 1]()
        for grid in ((1, 1, 1, 1), -1, 2**32):
            with pytest.raises(heddle.UsageError, match="dimensions|no size"):
                m["nop"][grid, 1]()
        assert [x.incomplete for x in g.launches].count("cycle-limit") == 1
    with pytest.raises(FileNotFoundError, match="nothing.ptx"):
        heddle.kernel_file("nothing.ptx")


def test_arrays_hold_what_a_kernel_wrote_before_it_failed(scale_ptx):
    for model in ("functional", "spe"):
        with heddle.Context(model) as g:
            x = np.ones(100_000, "f4")
            with pytest.raises(heddle.FaultError):  # the second half of the threads accesses memory behind the array
                g.module(scale_ptx).kernel[2, 64](x, x[-64:], 2.0, 128)
            used = g.memory[1]
            assert used == 0 and (model == "spe" or x[0] == 2)
            assert set(x) <= {1, 2}


def test_foreign_and_closed(scale_ptx):
    one, other = heddle.Context("functional"), heddle.Context("functional")
    k = one.module(scale_ptx).kernel
    x = other.zeros(32)
    with pytest.raises(heddle.UsageError, match="another context's"):
        k[1, 32](x, x, 1.0, 32)
    k.module.context = other  # the library refuses a module of another context
    with pytest.raises(heddle.UsageError, match="another context's"):
        k[1, 32](x, x, 1.0, 32)
    other.close()
    other.close()
    for call in (lambda: x.read(), lambda: other.stats, lambda: other.module(scale_ptx), lambda: other.zeros(1)):
        with pytest.raises(heddle.UsageError, match="closed"):
            call()
    other.stop()
    assert other.closed and "closed" in repr(other)
    one.close()


def test_the_collector_in_any_order(scale_ptx):
    """Releases context, module, buffer and view in every order; the view stays valid."""
    gc.freeze()  # excludes existing objects from each collection
    for order in itertools.permutations(range(4)):
        g = heddle.Context("functional")
        m = g.module(scale_ptx)
        b = g.zeros(1024, "i4")
        things = [g, m, b, b.array]
        view = things[3]
        view[:] = 3
        del g, m, b
        for i in order:
            things[i] = None
            gc.collect()
        view += 1
        assert view.sum() == 4096
        del view
    gc.unfreeze()
    g = heddle.Context("functional")
    view = g.zeros(1 << 20).array
    g.close()
    view[:] = 1
    assert view.sum() == 1 << 20


def test_buffers_let_go_of_are_freed():
    with heddle.Context("functional", memory_limit=1 << 20) as g:
        for _ in range(100):
            g.alloc(1 << 19)
        x = np.frombuffer(mmap.mmap(-1, 1 << 18), "u1")  # far above the lowest device address
        for _ in range(100):
            g.map(x)
        gc.collect()
        assert g.memory[1] == 0


def test_buffers_let_go_of_while_another_thread_launches(odd_ptx):
    """Buffers released by one thread while another is in the library are freed later; none is lost."""
    with heddle.Context("functional") as g:
        nop = g.module(odd_ptx)["nop"]
        before = g.memory[1]
        over = threading.Event()

        def launches():
            while not over.is_set():
                nop[8, 256]()

        thread = threading.Thread(target=launches)
        thread.start()
        for _ in range(300):
            g.alloc(4096)
        over.set()
        thread.join()
        g.alloc(64).free()
        assert g.memory[1] == before


def test_several_simulators_in_threads(scale_ptx):
    def run(seed):
        model = ("functional", "spe", "dws")[seed % 3]
        with heddle.Context(model) as g:
            x = np.random.default_rng(seed).random(2048, dtype="f4")
            y = np.zeros_like(x)
            k = g.module(scale_ptx).kernel
            cycles = [k[16, 128](y, x, float(i), 2048).cycles for i in range(3)]
            assert np.array_equal(y, x * np.float32(2))
            return model, cycles

    with ThreadPoolExecutor(6) as pool:
        got = list(pool.map(run, range(12)))
    for model in ("functional", "spe", "dws"):
        assert len({tuple(c) for m, c in got if m == model}) == 1


def test_one_context_in_several_threads(scale_ptx):
    with heddle.Context("functional") as g, ThreadPoolExecutor(4) as pool:
        k = g.module(scale_ptx).kernel

        def run(i):
            x = np.full(64, i, "f4")
            k[1, 64](x, x, 2.0, 64)
            return x[0]

        assert list(pool.map(run, range(100))) == [2.0 * i for i in range(100)]
        assert len(g.launches) == 100


@pytest.mark.parametrize("model", ["functional", "spe"])
def test_stop_from_another_thread(model, odd_ptx):
    with heddle.Context(model) as g:
        m = g.module(odd_ptx)
        threading.Timer(0.1, g.stop).start()
        with pytest.raises(heddle.StoppedError, match="stopped"):
            m["spin"][1, 32]()
        assert g.launches[-1].incomplete == "stopped" and g.launches[-1]["gpu.warp_instructions"] > 0
        m["nop"][1, 32]()
        thread = threading.Thread(target=lambda: pytest.raises(heddle.StoppedError, m["spin"][1, 32]))
        thread.start()  # a launch in another thread than the main thread
        time.sleep(0.1)
        g.stop()
        thread.join(10)
        assert not thread.is_alive()


def test_close_ends_a_launch(odd_ptx):
    g = heddle.Context("functional")
    spin = g.module(odd_ptx)["spin"]
    ended = []

    def launch():
        with pytest.raises(heddle.StoppedError):
            spin[1, 32]()
        ended.append(True)

    thread = threading.Thread(target=launch)
    thread.start()
    time.sleep(0.1)
    g.close()
    thread.join(10)
    assert ended == [True] and g.closed


@pytest.mark.parametrize("model", ["functional", "spe"])
def test_keyboard_interrupt_ends_a_launch(model, odd_ptx):
    with heddle.Context(model) as g:
        m = g.module(odd_ptx)
        for _ in range(3):
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            began = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                m["spin"][1, 32]()
            assert time.monotonic() - began < 5
            m["nop"][1, 32]()  # a late stop of the last launch does not stop this one


def test_a_fifo_is_read_and_its_wait_ends(odd_ptx, tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with heddle.Context("functional") as g:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            g.module_file(path)
        assert time.monotonic() - began < 5
        threading.Timer(0.1, path.write_text, (odd_ptx,)).start()
        g.module_file(path)["nop"][1, 32]()


def test_interrupts_at_any_moment(odd_ptx):
    """Each of a hundred interrupts during short launches is noticed, and none stops a later launch."""
    seen = 0
    with heddle.Context("functional") as g:
        nop = g.module(odd_ptx)["nop"]
        before = signal.setitimer(signal.ITIMER_REAL, 0)
        old = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            for i in range(100):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0002 + 0.00001 * i)
                    while True:
                        nop[1, 32]()
                except KeyboardInterrupt:
                    seen += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, *before)
            signal.signal(signal.SIGALRM, old)
        nop[1, 32]()
        assert seen == 100


def test_a_handler_that_stops(odd_ptx):
    with heddle.Context("functional") as g:
        m = g.module(odd_ptx)
        old = signal.signal(signal.SIGALRM, lambda *_: g.stop())
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(heddle.StoppedError):
                m["spin"][1, 32]()
        finally:
            signal.signal(signal.SIGALRM, old)


def ended(program, status=0):
    """Runs a program in a process of its own and returns its output."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(heddle.__file__))},
    )
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_the_end_of_the_process(odd_ptx):
    """The process ends without a hang or crash despite a launch in a daemon thread, open contexts and a waiting
    worker."""
    out = ended(
        f"""
        import heddle, threading, time
        g = heddle.Context("functional", trace=None)
        m = g.module({odd_ptx!r})
        m["nop"][1, 1]()
        def spin():
            try:
                m["spin"][1, 32]()
            except heddle.HeddleError as e:
                print(type(e).__name__)
        threading.Thread(target=spin, daemon=True).start()
        time.sleep(0.2)
        print("over")
        """
    )
    assert out.startswith("over\n")


def test_a_library_that_is_not_there():
    out = ended(
        """
        import os
        os.environ["HEDDLE_LIBRARY"] = "/nowhere/libheddle.so.0"
        try:
            import heddle
        except ImportError as e:
            print(e)
        """
    )
    assert "/nowhere/libheddle.so.0" in out and "pip install ./python" in out and "HEDDLE_LIBRARY" in out


def test_a_library_that_needs_another(tmp_path):
    cc = shutil.which("cc")
    if not cc:
        pytest.skip("a C compiler is needed")
    for name, needs in (("libother.so.1", []), ("libheddle.so.0", ["libother.so.1"])):
        command = [cc, "-shared", "-x", "c", "/dev/null", "-x", "none", "-Wl,--no-as-needed", f"-Wl,-soname,{name}"]
        subprocess.run([*command, *needs, "-o", name], cwd=tmp_path, check=True)
    (tmp_path / "libother.so.1").unlink()
    out = ended(
        f"""
        import os
        os.environ["HEDDLE_LIBRARY"] = "{tmp_path}/libheddle.so.0"
        try:
            import heddle
        except ImportError as e:
            print(e)
        """
    )
    assert f"{tmp_path}/libheddle.so.0 needs the library libother.so.1" in out and "apt-get install libcjson1" in out


def test_a_fork_goes_on(odd_ptx):
    """A forked child works without its parent's threads."""
    assert "child 0" in ended(
        f"""
        import heddle, os
        g = heddle.Context("functional")
        nop = g.module({odd_ptx!r})["nop"]
        nop[1, 1]()
        child = os.fork()
        if not child:
            nop[1, 1]()
            os._exit(0)
        print("child", os.waitpid(child, 0)[1])
        """
    )
