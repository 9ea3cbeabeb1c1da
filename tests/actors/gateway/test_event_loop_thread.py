import asyncio

from ogg_hpc.actors.gateway.event_loop_thread import EventLoopThread


def test_what_still_waits_is_cancelled_at_the_end():
    async def begin():
        return asyncio.ensure_future(asyncio.Event().wait())

    with EventLoopThread() as thread:
        waiting = asyncio.run_coroutine_threadsafe(begin(), thread.loop).result()
        assert not waiting.done()
    assert waiting.cancelled()
    assert thread.loop.is_closed()
